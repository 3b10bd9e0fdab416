import type { Argument, Command, Option } from "commander";

/** What could stand at the end of a command line. */
export type Candidate = { readonly value: string; readonly description: string };

/**
 * The values of an option or an argument that are known here, such as the stages there are; nothing where the shell
 * knows better.
 */
export type ValuesOf = (
  wanted: Option | Argument,
  command: Command,
  words: readonly string[],
) => readonly string[];

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
  const { command, awaiting, given } = walk(program, plain);
  return all().filter(({ value }) => value.startsWith(written));

  function all(): readonly Candidate[] {
    if (awaiting !== undefined) {
      return valuesOf(awaiting, command, plain).map((value) => ({ value, description: "" }));
    }
    if (written.startsWith("-")) return optionsOf(command, plain);
    const argument = command.registeredArguments[given];
    if (argument !== undefined) {
      return valuesOf(argument, command, plain).map((value) => ({ value, description: "" }));
    }
    return command
      .createHelp()
      .visibleCommands(command)
      .filter((each) => each.name() !== "help")
      .map((each) => ({ value: each.name(), description: each.description() }));
  }
}

/** The command that words lead to, how many arguments it has, and the option at their end that waits for its value. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let awaiting: Option | undefined;
  let given = 0;
  for (const word of words) {
    if (awaiting !== undefined) {
      awaiting = undefined;
    } else if (word.startsWith("-")) {
      const option = command.options.find(({ long, short }) => long === word || short === word);
      awaiting = option?.required ? option : undefined;
    } else {
      const below = command.commands.find((each) => each.name() === word);
      if (below === undefined) given += 1;
      command = below ?? command;
    }
  }
  return { command, awaiting, given };
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
