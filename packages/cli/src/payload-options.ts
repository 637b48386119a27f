import { type CommandOption, type ParsedArguments, UsageError } from './command.ts'

/** For the largest payload over a slow connection. */
export const PAYLOAD_MS = 300_000

const PAYLOADS = ['input', 'output', 'error'] as const
export type Payload = (typeof PAYLOADS)[number]

const optionOf = (what: string): CommandOption => ({
  type: 'boolean',
  about: `print its ${what} as stored, byte for byte, and nothing else`,
})

export const payloadOptions: Record<Payload, CommandOption> = {
  input: optionOf('input'),
  output: optionOf('output, or that of its pause'),
  error: optionOf('error'),
}

/** The payload that the options name, at most one. Throws UsageError. */
export function payloadOf({ options }: ParsedArguments): Payload | undefined {
  const named = PAYLOADS.filter((payload) => options[payload])
  if (named.length > 1)
    throw new UsageError(`name only one of ${named.map((payload) => `--${payload}`).join(' and ')}`)
  return named[0]
}
