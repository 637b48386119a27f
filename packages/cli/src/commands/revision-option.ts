import { type CommandOption, type ParsedArguments, UsageError } from '../command.ts'

/** The revision that an object must have to be changed. */
export const revisionOption: Record<string, CommandOption> = {
  'if-revision': {
    type: 'string',
    value: 'REVISION',
    about: 'change it only if it still has this revision, which `show` or `list` prints',
  },
}

/** Reads the option. Throws UsageError for what is no revision. */
export function revisionOf({ options }: ParsedArguments): string | undefined {
  const revision = options['if-revision']
  if (revision === undefined) return undefined
  if (/^[\w-]{1,100}$/.test(String(revision))) return String(revision)
  throw new UsageError('--if-revision is a revision as the server prints it, without quotes')
}
