import { z } from 'zod'
import { versionParam } from './fields.ts'
import { route } from './route.ts'

const spec = { summary: '', returns: z.string(), handle: async () => '' }

// @ts-expect-error the permission names a placeholder that the path does not have
route('get', '/schedules/{schedule_id}', { ...spec, access: 'schedule:{id}:read' })

// @ts-expect-error the rule looks at a parameter that the path does not have
route('get', '/workers/{worker}/connect', { ...spec, access: 'own worker' })

route('get', '/workflows/{namespace}/{workflow_name}/versions/{version}', {
  ...spec,
  access: 'workflow:{namespace}:{workflow_name}:read',
  params: { version: versionParam('version') },
  handle: async ({ params }) => `${params.namespace.toUpperCase()} ${params.version.toFixed(0)}`,
})

route('post', '/workers/{name}/pong', {
  ...spec,
  access: 'own worker',
  // @ts-expect-error the rule found no such thing
  handle: async ({ resolved }) => resolved.workflow_name,
})
