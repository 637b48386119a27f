import type { Command } from './command.ts'

const usage = ({ words, args, passesOn }: Command) =>
  ['windlass', words, ...args.map(shown), ...(passesOn ? ['[options]'] : [])].join(' ')

const shown = (name: string) =>
  name.endsWith('?') ? `[${name.slice(0, -1).toUpperCase()}]` : name.toUpperCase()

/** All of these commands, a line each. */
export function overview(commands: readonly Command[]): string {
  return `Windlass runs durable Python workflows.

${columns(commands.map((command) => [usage(command), command.about]))}

  windlass COMMAND --help   the options of a command
  windlass --version        the release

Commands that speak to the server take --server-url URL (default: SVC_WORKERS__SERVER_URL, else the
local server) and act with the token in SVC_AUTH_TOKEN.
`
}

export function helpOf(command: Command): string {
  const options = Object.entries(command.options ?? {})
  const rows = options.map(([name, { value, about }]) => [
    value ? `--${name} ${value}` : `--${name}`,
    about,
  ])
  const listed = rows.length > 0 ? `\n${columns(rows)}\n` : ''
  return `${usage(command)}\n\n${command.about}.\n${listed}`
}

/** Rows with their second cells under one another. */
export function columns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows
    .map((row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd())
    .join('\n')
}
