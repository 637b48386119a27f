import type { DeclaredRpc } from '../packages/rpc/src/policy.ts'
import * as catalog from '../services/catalog/src/access.ts'
import * as dispatcher from '../services/dispatcher/src/access.ts'
import * as executions from '../services/executions/src/access.ts'
import * as identity from '../services/identity/src/access.ts'
import * as scheduler from '../services/scheduler/src/access.ts'

/** Every rpc of every service with the services that may call it. */
export const rpcs: readonly DeclaredRpc[] = [
  identity,
  catalog,
  executions,
  dispatcher,
  scheduler,
].flatMap((service) => service.rpcs)

/** The table as a Markdown page. */
export function rpcTable(): string {
  const rows = rpcs.map(({ path, services, requiresCaller }) => [
    `\`${path.slice(1)}\``,
    services.join(', '),
    requiresCaller ? 'yes' : '·',
  ])
  const head = ['rpc', 'called by', 'on behalf of']
  const lines = [head, head.map(() => '---'), ...rows]
  return [...PREFACE, ...lines.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n')
}

const PREFACE = [
  '# Access between services',
  '',
  'Made from what each service declares in its `src/access.ts` by `npm run contracts`; a test calls each',
  'rpc as each service. What is not listed is refused. *On behalf of*: the call carries a signed statement',
  'of who is asking, and is refused without; the commands of `Submit` that start an execution and the',
  'entries of `Record` have one each. Health and the stream that carries calls are for every service.',
  '',
]
