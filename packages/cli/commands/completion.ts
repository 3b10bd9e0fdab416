import type { Command } from "commander";
import { addOfflineCommand } from "../core/command.ts";
import { CommandError } from "../core/command-error.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** @param createProgram loads every command */
export function addTo(program: Command, createProgram: () => Promise<Command>): void {
  addOfflineCommand(program, {
    name: "completion <shell>",
    summary: `Prints the completion script for a shell: ${shells.join(", ")}.`,
    examples: [
      "npx income-events completion bash    for example: source <(npx income-events completion bash)",
      "npx income-events completion zsh    for example: source <(npx income-events completion zsh)",
      "npx income-events completion fish > ~/.config/fish/completions/income-events.fish",
    ],
    run: async (terminal, _, wanted = "") => {
      const shell = shells.find((each) => each === wanted);
      if (shell === undefined) throw CommandError.usage(`${wanted}: write one of ${shells.join(", ")}.`);
      const levels = levelsOf(await createProgram());
      const script = shell === "fish" ? fishScript(levels) : bashScript(levels);
      terminal.result({ shell, script }, shell === "zsh" ? `${zshPrelude}\n${script}` : script);
    },
  });
}

/** A command and its completions: its subcommands or options. */
type Level = {
  readonly path: readonly string[];
  readonly words: readonly { readonly word: string; readonly description: string }[];
};

/** The program's levels, the deepest first. */
function levelsOf(command: Command, path: readonly string[] = []): readonly Level[] {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== "help");
  const commands = below.map((each) => ({ word: each.name(), description: each.description() }));
  const options = command.createHelp().visibleOptions(command);
  const words = options.map(({ long = "", description }) => ({ word: long, description }));
  const own = { path, words: commands.length > 0 ? commands : words };
  return [...below.flatMap((each) => levelsOf(each, [...path, each.name()])), own];
}

// zsh can run bash's completions.
const zshPrelude = "autoload -U +X bashcompinit && bashcompinit";

/** If nothing matches, the shell completes file names. Leaves an existing completion of npx in place. */
function bashScript(levels: readonly Level[]): string {
  const known = levels.flatMap(({ path }) => (path.length === 0 ? [] : [`/${path.join("/")}`]));
  const cases = levels.map(
    ({ path, words }) => `    "${path.map((each) => `/${each}`).join("")}") words="${wordsOf(words)}" ;;`,
  );
  return `_income_events() {
  local first=1 path="" words="" word current="\${COMP_WORDS[COMP_CWORD]}"
  if [[ $1 == npx ]]; then
    [[ \${COMP_WORDS[1]} == income-events && $COMP_CWORD -gt 1 ]] || return
    first=2
  fi
  for word in "\${COMP_WORDS[@]:first:COMP_CWORD-first}"; do
    case "$path/$word" in
      ${known.join("|")}) path="$path/$word" ;;
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  [[ $words == --* && $current != -* ]] && words=""
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _income_events income-events
complete -p npx >/dev/null 2>&1 || complete -o default -F _income_events npx`;
}

function wordsOf(words: Level["words"]): string {
  return words.map(({ word }) => word).join(" ");
}

function fishScript(levels: readonly Level[]): string {
  const cases = levels.map(({ path, words }) => {
    const lines = words.map(({ word, description }) => quoted(`${word}\t${description}`));
    return `    case ${quoted([...path, "*"].join(" "))}\n      printf '%s\\n' ${lines.join(" ")}`;
  });
  return `function __income_events
  set -l written (string match -v -- '-*' (commandline -opc))[2..-1]
  if test (commandline -opc)[1] = npx
    test "$written[1]" = income-events; or return
    set -e written[1]
  end
  switch "$written "
${cases.join("\n")}
  end
end
for name in income-events npx
  complete -c $name -a '(__income_events)'
end`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
