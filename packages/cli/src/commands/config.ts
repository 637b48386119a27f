import { path, toConfigName } from '@windlass/api-client/path'
import { entryCommands } from './entry.ts'

export const {
  set: configSet,
  get: configGet,
  list: configList,
  remove: configDelete,
} = entryCommands({
  word: 'config',
  isSecret: false,
  root: path`/admin/configs`,
  toName: toConfigName,
})
