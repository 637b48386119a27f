import type { ConfigUse } from '@windlass/proto/windlass/identity/v1/secrets'
import { z } from 'zod'
import { hasPermission } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { route } from '../route/route.ts'
import { entryName } from './entry-routes.ts'
import { CONFIG_USES } from './examples.ts'

type Deps = Pick<Clients, 'configs'>

/** Maximum number of uses that are listed. */
const MAX_LISTED = 1_000

const Use = {
  /** The newest version that read it. */
  version: z.int(),
  first_used_at: z.string(),
  /** Accurate to ten minutes, as a use is not recorded more often. */
  last_used_at: z.string(),
  last_execution_id: z.string(),
}

const useOf = ({ version, first_used_at, last_used_at, last_execution_id }: ConfigUse) => ({
  version,
  first_used_at: (first_used_at ?? new Date(0)).toISOString(),
  last_used_at: (last_used_at ?? new Date(0)).toISOString(),
  last_execution_id,
})

export const getConfigUses = route('get', '/admin/configs/{name}/uses', {
  summary: 'Show which workflows read a config',
  access: 'config:*:read',
  params: { name: entryName },
  returns: z
    .object({
      /** Workflows that the caller may read, the last reads first. */
      workflows: z.array(z.object({ namespace: z.string(), name: z.string(), ...Use })),
      /** Further ones, which the caller may not read or which are too many to list. */
      others: z.int(),
    })
    .meta({ id: 'ConfigUses', examples: [CONFIG_USES] }),
  async handle({ params: { name }, caller }, { configs }: Deps) {
    const { uses } = await orUpgrade(
      configs.listUses({ name, namespace: '', workflow: '' }),
      'identity',
    )
    const workflows = uses
      .filter((use) => hasPermission(caller, `workflow:${use.namespace}:${use.workflow}:read`))
      .slice(0, MAX_LISTED)
      .map((use) => ({ namespace: use.namespace, name: use.workflow, ...useOf(use) }))
    return { workflows, others: uses.length - workflows.length }
  },
})

export const getWorkflowConfigs = route('get', '/workflows/{namespace}/{workflow_name}/configs', {
  summary: 'Show which configs a workflow reads',
  access: 'workflow:{namespace}:{workflow_name}:read',
  returns: z
    .object({
      /** The last reads first, up to 1,000; null without `config:*:read`. */
      configs: z.array(z.object({ name: z.string(), ...Use })).nullable(),
      /** True if there are more. */
      cut: z.boolean(),
    })
    .meta({ id: 'WorkflowConfigs' }),
  async handle({ params: { namespace, workflow_name: workflow }, caller }, { configs }: Deps) {
    if (!hasPermission(caller, 'config:*:read')) return { configs: null, cut: false }
    const { uses } = await orUpgrade(
      configs.listUses({ name: '', namespace, workflow }),
      'identity',
    )
    return {
      configs: uses.slice(0, MAX_LISTED).map((use) => ({ name: use.config, ...useOf(use) })),
      cut: uses.length > MAX_LISTED,
    }
  },
})
