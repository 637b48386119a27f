import { path, toConfigName, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { parseWorkflowRef } from '../input.ts'
import { readCommand } from './read-command.ts'

export const configUses = readCommand({
  words: 'config uses',
  args: ['name'],
  about: 'Show which workflows read a config',
  pathOf: ([name = '']) => path`/admin/configs/${toConfigName(name)}/uses`,
})

export const workflowConfigs = readCommand({
  words: 'workflow configs',
  args: ['workflow'],
  about: 'Show which configs a workflow reads',
  pathOf([workflow = '']) {
    const { namespace, name } = parseWorkflowRef(workflow)
    return path`/workflows/${toNamespace(namespace)}/${toWorkflowName(name)}/configs`
  },
})
