import type { EraseMessage, World } from "./world.ts";

/** The eraser's queue in every world; the history takes its messages in any order. */
export class TaskList implements Pick<World, "ask" | "tasks" | "finish"> {
  #tasks: readonly EraseMessage[] = [];

  async ask(body: string): Promise<void> {
    this.#tasks = [...this.#tasks, { body }];
  }

  async tasks(): Promise<readonly EraseMessage[]> {
    return this.#tasks;
  }

  async finish(task: EraseMessage): Promise<void> {
    this.#tasks = this.#tasks.filter((each) => each !== task);
  }
}
