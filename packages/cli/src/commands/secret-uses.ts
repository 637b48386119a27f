import { path } from '@windlass/api-client/path'
import { readCommand } from './read-command.ts'
import { secretName } from './secret.ts'

export const secretUses = readCommand({
  words: 'secret uses',
  args: ['name'],
  about: 'Show which workflows declare a secret, and its last uses by workers',
  pathOf: ([name = '']) => path`/admin/secrets/${secretName(name)}/uses`,
})
