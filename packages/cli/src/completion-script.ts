import type { Command } from './command.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

export const isShell = (text: string): text is Shell => (SHELLS as readonly string[]).includes(text)

/** Words that can follow the beginning of a command, by that beginning. */
function nextWords(commands: readonly Command[]): Map<string, Set<string>> {
  const next = new Map<string, Set<string>>()
  for (const { words } of commands) {
    const parts = words.split(' ')
    parts.forEach((word, i) => {
      const before = parts.slice(0, i).join(' ')
      next.set(before, (next.get(before) ?? new Set()).add(word))
    })
  }
  return next
}

const optionsOf = ({ options = {} }: Command) => [
  ...Object.keys(options).map((name) => `--${name}`),
  '--help',
]

/** Returns the script that completes commands and options in a shell, and files elsewhere. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  if (shell === 'fish') return fishScript(commands)
  const script = bashScript(commands)
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`
}

/** Words of commands are letters and hyphens, so that the script needs no quotes around them. */
function bashScript(commands: readonly Command[]): string {
  const branches = commands.map(
    (command) =>
      `    ' ${command.words}' | ' ${command.words} '*) options="${optionsOf(command).join(' ')}" ;;`,
  )
  const beginnings = [...nextWords(commands)].map(
    ([before, words]) =>
      `    '${before && ` ${before}`}') words="${[...words].join(' ')}${before ? '' : ' --help --version'}" ;;`,
  )
  return `_windlass() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line='' words='' options='--help' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -* ]] || line="$line \${COMP_WORDS[i]}"
  done
  case "$line" in
${beginnings.join('\n')}
  esac
  case "$line" in
${branches.join('\n')}
  esac
  [[ -z $words && $current == -* ]] && words="$options"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _windlass windlass
`
}

const quoteForFish = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`

function fishScript(commands: readonly Command[]): string {
  const at = (words: string) => `-n "__windlass_is '${words}'"`
  const abouts = new Map(commands.map(({ words, about }) => [words, about]))
  const lines = [...nextWords(commands)].flatMap(([before, words]) =>
    [...words].map((word) => {
      const about = abouts.get(before ? `${before} ${word}` : word)
      const description = about === undefined ? '' : ` -d ${quoteForFish(about)}`
      return `complete -c windlass -f ${at(before)} -a ${word}${description}`
    }),
  )
  const options = commands.flatMap(({ words, options = {} }) =>
    Object.entries(options).map(
      ([name, { type, about }]) =>
        `complete -c windlass -n "__windlass_begins '${words}'" -l ${name}${type === 'string' ? ' -r' : ''} -d ${quoteForFish(about)}`,
    ),
  )
  return `function __windlass_line
  set -l words (commandline -opc)
  echo (string match -v -- '-*' $words[2..-1])
end
function __windlass_is
  test "$(__windlass_line)" = "$argv"
end
function __windlass_begins
  string match -q -- "$argv *" "$(__windlass_line) "
end
${[...lines, ...options].join('\n')}
`
}
