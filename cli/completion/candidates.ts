import type { Command, Option } from "commander";

/** What could stand at the end of a command line. */
export type Candidate = { readonly value: string; readonly description: string };

/** The values of an option that are known here, such as the stages there are; nothing where the shell knows better. */
export type ValuesOf = (option: Option, command: Command, words: readonly string[]) => readonly string[];

/**
 * What could complete a command line: subcommands, options that are not there yet, and values of options.
 * @param words all after the program's name; the last one is being written, and may be empty
 */
export function candidates(
  program: Command,
  words: readonly string[],
  valuesOf: ValuesOf,
): readonly Candidate[] {
  // Bash takes "--stage=prod" for three words.
  const plain = words.filter((word) => word !== "=");
  const written = words.at(-1) === "=" ? "" : (plain.pop() ?? "");
  const { command, awaiting } = walk(program, plain);
  return all().filter(({ value }) => value.startsWith(written));

  function all(): readonly Candidate[] {
    if (awaiting !== undefined) {
      return valuesOf(awaiting, command, plain).map((value) => ({ value, description: "" }));
    }
    if (written.startsWith("-")) return optionsOf(command, plain);
    return command
      .createHelp()
      .visibleCommands(command)
      .filter((each) => each.name() !== "help")
      .map((each) => ({ value: each.name(), description: each.description() }));
  }
}

/** The command that the words lead to, and the option at their end that waits for its value. */
function walk(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly awaiting: Option | undefined } {
  let command = program;
  let awaiting: Option | undefined;
  for (const word of words) {
    if (awaiting !== undefined) {
      awaiting = undefined;
    } else if (word.startsWith("-")) {
      const option = command.options.find(({ long, short }) => long === word || short === word);
      awaiting = option?.required ? option : undefined;
    } else {
      command = command.commands.find((each) => each.name() === word) ?? command;
    }
  }
  return { command, awaiting };
}

function optionsOf(command: Command, words: readonly string[]): readonly Candidate[] {
  return (
    command
      .createHelp()
      .visibleOptions(command)
      // One that takes a value may be given again.
      .filter(({ long = "", required }) => long !== "" && (required || !words.includes(long)))
      .map(({ long = "", description }) => ({ value: long, description }))
  );
}
