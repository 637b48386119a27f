import { json } from '../route/body.ts'
import { route } from '../route/route.ts'
import { appendLines, CapturedLines, type LineDeps } from './append-lines.ts'
import { claimHolderOf } from './claim-holder.ts'
import { Ok } from './schemas.ts'

export const storeLines = route('post', '/workers/{name}/logs/{execution_id}', {
  summary: 'Store lines that the code of a held execution wrote',
  access: 'own execution',
  raw: true,
  body: json(CapturedLines, { size: 'names' }),
  returns: Ok,
  async handle({ params: { execution_id }, body, resolved, ctx }, deps: LineDeps) {
    await appendLines(deps, execution_id, claimHolderOf(resolved, ctx, execution_id), body)
    return { status: 'ok' as const }
  },
})
