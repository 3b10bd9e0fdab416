/** Shells that a completion is written for. */
export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** The word that asks for candidates, before the words of the command line. */
export const completeWord = "__complete";

/** How a shell runs the program. */
export type Program = {
  /** A file and its arguments. */
  readonly words: readonly string[];
  /** Told to Node before it starts: without it, Node loads its compiler of TypeScript for the program's first file. */
  readonly compileCache: string;
};

/**
 * What a shell reads once, so that it asks the program at each Tab, as `income-events` and as `npx income-events`. No
 * word of the line is evaluated. Where the program knows nothing, the shell completes names of files.
 */
export function scriptFor(shell: Shell, { words, compileCache }: Program): string {
  const cache = `NODE_COMPILE_CACHE=${quoted(compileCache)}`;
  const command = [cache, ...words.map(quoted), completeWord].join(" ");
  switch (shell) {
    case "bash":
      return bashScript(command);
    case "zsh":
      return zshScript(command);
    case "fish":
      return fishScript(command);
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// Not for npx where something completes it already.
const bashScript = (command: string) => `_income_events() {
  local first=1
  if [[ $1 == npx ]]; then
    [[ \${COMP_WORDS[1]} == income-events && $COMP_CWORD -gt 1 ]] || return
    first=2
  fi
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(${command} "\${COMP_WORDS[@]:first:COMP_CWORD-first+1}" 2>/dev/null)
}
complete -o default -F _income_events income-events
complete -p npx >/dev/null 2>&1 || complete -o default -F _income_events npx`;

const zshScript = (command: string) => `#compdef income-events
_income_events() {
  local first=2
  if [[ $words[1] == npx ]]; then
    if [[ $words[2] != income-events || $CURRENT -lt 3 ]]; then _default; return; fi
    first=3
  fi
  local -a found
  found=("\${(@f)$(${command} "\${(@)words[first,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found//:/\\:}")
  found=("\${(@)found/$'\\t'/:}")
  if [[ -n $found[1] ]]; then _describe 'income-events' found; else _default; fi
}
compdef _income_events income-events
(( $+_comps[npx] )) || compdef _income_events npx`;

const fishScript = (command: string) => `function __income_events
  set -l written (commandline -opc)[2..-1]
  if test (commandline -opc)[1] = npx
    test "$written[1]" = income-events; or return
    set -e written[1]
  end
  ${command} $written (commandline -ct) 2>/dev/null
end
for name in income-events npx
  complete -c $name -a '(__income_events)'
end`;
