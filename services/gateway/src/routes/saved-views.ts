import type { SavedView } from '@windlass/proto/windlass/identity/v1/views'
import { notFound } from '@windlass/runtime/faults'
import { z } from 'zod'
import { onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { json } from '../route/body.ts'
import { text } from '../route/fields.ts'
import { route } from '../route/route.ts'
import { entryName } from './entry-routes.ts'
import { VIEW } from './examples.ts'
import { putHeaders, readPrecondition, sendRevision } from './preconditions.ts'
import { timeOf } from './responses.ts'
import { Success } from './schemas.ts'

type Deps = Pick<Clients, 'views'>

const View = z
  .object({
    name: z.string(),
    /** Name of a screen of the client, as `executions`. */
    screen: z.string(),
    /** Its state as the query of an address. */
    query: z.string(),
    updated_at: z.string().nullable(),
    revision: z.string().nullable(),
  })
  .meta({ id: 'SavedView', examples: [VIEW] })

const NewView = z.strictObject({ screen: text(64).min(1), query: text(4_096).default('') }).meta({
  id: 'NewView',
  examples: [{ screen: 'executions', query: 'state=failed&workflow_name=hello' }],
})

const viewOf = ({ name, screen, query, updated_at, revision }: SavedView) => ({
  ...{ name, screen, query, updated_at: timeOf(updated_at), revision: revision ?? null },
})

const ofIdentity = <T>(answer: Promise<T>): Promise<T> => orUpgrade(answer, 'identity')

export const listViews = route('get', '/me/views', {
  summary: "List the caller's saved views, by name",
  access: 'authenticated',
  returns: z
    .object({ views: z.array(View) })
    .meta({ id: 'SavedViews', examples: [{ views: [VIEW] }] }),
  async handle({ caller, ctx }, { views }: Deps) {
    const found = await ofIdentity(views.list({}, onBehalfOf(ctx, caller)))
    return { views: found.views.map(viewOf) }
  },
})

export const putView = route('put', '/me/views/{view_name}', {
  summary: 'Save a view, or replace that of the same name; a caller may have 100',
  access: 'authenticated',
  params: { view_name: entryName },
  headers: putHeaders,
  body: json(NewView, { size: 'names' }),
  returns: View,
  async handle({ params: { view_name: name }, body, caller, ctx }, { views }: Deps) {
    const by = onBehalfOf(ctx, caller)
    const precondition = readPrecondition(ctx)
    const saving = precondition
      ? views.putIf({ view: { name, ...body }, precondition }, by)
      : views.put({ name, ...body }, by)
    const { view } = await ofIdentity(saving)
    if (!view) throw new Error('a put was not answered')
    sendRevision(ctx, view.revision)
    return viewOf(view)
  },
})

export const deleteView = route('delete', '/me/views/{view_name}', {
  summary: "Delete one of the caller's saved views",
  access: 'authenticated',
  params: { view_name: entryName },
  returns: Success,
  async handle({ params: { view_name: name }, caller, ctx }, { views }: Deps) {
    const { was_there } = await ofIdentity(views.delete({ name }, onBehalfOf(ctx, caller)))
    if (!was_there) throw notFound('View', name)
    return { status: 'success' as const, message: 'View deleted' }
  },
})
