import { objects } from '@windlass/domain/audit'
import { readWorkflows } from '@windlass/domain/list-workflows'
import { z } from 'zod'
import { hasPermission } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { declaredSecrets } from '../domain/entries.ts'
import { JsonText } from '../domain/views.ts'
import { route } from '../route/route.ts'
import { EntryView, viewOf } from './audit-views.ts'
import { entryName } from './entry-routes.ts'
import { SECRET_USES } from './examples.ts'

type Deps = Pick<Clients, 'audit' | 'catalog'>

/** Maximum of uses, and of workflows, that are listed. */
const MAX_USES = 50
const MAX_WORKFLOWS = 1_000

export const getSecretUses = route('get', '/admin/secrets/{name}/uses', {
  summary: 'Show which workflows declare a secret, and its last uses by workers',
  access: 'admin:secrets:read',
  params: { name: entryName },
  returns: z
    .object({
      /** Latest versions that declare it, of workflows that the caller may read. */
      workflows: z.array(z.object({ namespace: z.string(), name: z.string(), version: z.int() })),
      /** Further ones, which the caller may not read or which are too many to list. */
      others: z.int(),
      /** Audit entries `secret.use`, newest first; null without `admin:audit:read`. */
      last_uses: z.array(EntryView).nullable(),
    })
    .meta({ id: 'SecretUses', examples: [SECRET_USES] }),
  async handle({ params: { name }, caller }, deps: Deps) {
    const mayReadAudit = hasPermission(caller, 'admin:audit:read')
    const [declaring, uses] = await Promise.all([
      listDeclaring(deps, name),
      mayReadAudit ? lastUses(deps, name) : 'null',
    ])
    const workflows = declaring
      .filter((one) => hasPermission(caller, `workflow:${one.namespace}:${one.name}:read`))
      .slice(0, MAX_WORKFLOWS)
    const others = declaring.length - workflows.length
    return new JsonText(
      `{"workflows":${JSON.stringify(workflows)},"others":${others},"last_uses":${uses}}`,
    )
  },
})

async function listDeclaring({ catalog }: Deps, secret: string) {
  const declaring = []
  for await (const one of readWorkflows((request) => catalog.list(request))) {
    const { namespace, name, version, metadata_json } = one
    if (declaredSecrets(metadata_json).has(secret)) declaring.push({ namespace, name, version })
  }
  return declaring
}

/** Last uses as JSON text, whose details are as they were hashed. */
async function lastUses({ audit }: Deps, name: string): Promise<string> {
  const { entries } = await audit.list({
    ...{ actor: '', action: 'secret.use', object: objects.secret(name), outcome: '' },
    ...{ since: undefined, until: undefined, limit: MAX_USES, offset: 0 },
  })
  return `[${entries.map(viewOf)}]`
}
