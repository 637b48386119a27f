import { path, toConfigName, toNamespace, toWorkflowName } from '@windlass/api-client/path'
import { z } from 'zod'
import { defineTool } from '../tool.ts'
import { selectMembers, workflowArgs } from './shared.ts'

export const getConfigUses = defineTool({
  name: 'get_config_uses',
  title: 'Get uses of config',
  description: 'Show which workflows read a config, with the newest version that did.',
  args: { config_name: z.string().describe('Name of the config') },
  request: ({ config_name }) => ({
    method: 'GET',
    path: path`/admin/configs/${toConfigName(config_name)}/uses`,
  }),
  ...selectMembers({ workflows: z.array(z.unknown()), others: z.int() }),
  doing: 'reading uses of config',
  effect: 'reads',
})

export const getWorkflowConfigs = defineTool({
  name: 'get_workflow_configs',
  title: 'Get configs of workflow',
  description: 'Show which configs a workflow reads, with the newest version that did.',
  args: workflowArgs,
  request: (args) => ({
    method: 'GET',
    path: path`/workflows/${toNamespace(args.workflow_namespace)}/${toWorkflowName(args.workflow_name)}/configs`,
  }),
  ...selectMembers({ configs: z.array(z.unknown()).nullable(), cut: z.boolean() }),
  doing: 'reading configs of workflow',
  effect: 'reads',
})
