import { path, toSecretName } from '@windlass/api-client/path'
import { readCommand } from './read-command.ts'

export const secretUses = readCommand({
  words: 'secret uses',
  args: ['name'],
  about: 'Show which workflows declare a secret, and its last uses by workers',
  pathOf: ([name = '']) => path`/admin/secrets/${toSecretName(name)}/uses`,
})
