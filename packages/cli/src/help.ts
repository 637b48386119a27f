import type { Command } from './command.ts'
import { displayWidth, padToWidth } from './display-width.ts'

const formatUsage = ({ args, isPassThrough, ...command }: Command) =>
  [
    'windlass',
    formatWords(command),
    ...args.map(formatArgument),
    ...(isPassThrough ? ['[options]'] : []),
  ].join(' ')

/** The words of a command, with the last one in brackets if it may be left out. */
const formatWords = ({ words, isGroupDefault }: Pick<Command, 'words' | 'isGroupDefault'>) =>
  isGroupDefault ? words.replace(/ (\S+)$/, ' [$1]') : words

const formatArgument = (name: string) =>
  name.endsWith('?') ? `[${name.slice(0, -1).toUpperCase()}]` : name.toUpperCase()

/** The help of these commands, one line each. */
export function formatOverview(commands: readonly Command[]): string {
  return `Windlass runs durable Python workflows.

${formatColumns(commands.map((command) => [formatUsage(command), command.about]))}

  windlass COMMAND --help   the options of a command
  windlass --version        the version

Commands that call the server take --server-url URL (default: SVC_WORKERS__SERVER_URL, else the
system that npm start runs here, else [svc.server]), --ca-file FILE for the certificate of a private
authority (default: WINDLASS_CA_FILE) and --json, and use the token in SVC_AUTH_TOKEN.
`
}

export function formatHelp(command: Command): string {
  const options = Object.entries(command.options ?? {})
  const rows = options.map(([name, { value, about }]) => [
    value ? `--${name} ${value}` : `--${name}`,
    about,
  ])
  const listed = rows.length > 0 ? `\n${formatColumns(rows)}\n` : ''
  return `${formatUsage(command)}\n\n${command.about}.\n${listed}`
}

/** Formats rows as a table with aligned columns. */
export function formatColumns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, i) =>
    rows.reduce((width, row) => Math.max(width, displayWidth(row[i] ?? '')), 0),
  )
  return rows
    .map((row) =>
      `  ${row.map((cell, i) => padToWidth(cell, widths[i] ?? 0)).join('  ')}`.trimEnd(),
    )
    .join('\n')
}
