import { read, sendRepeatable } from './server.ts'

/** A saved view of the caller: the query of the address of a screen. */
export interface SavedView {
  name: string
  screen: string
  query: string
  /** Names the state of the view; null from a server of an earlier release. */
  revision: string | null
}

const pathOf = (name: string) => `/me/views/${encodeURIComponent(name)}`

export const listViews = async (signal?: AbortSignal): Promise<SavedView[]> =>
  (await read<{ views: SavedView[] }>('/me/views', {}, signal)).views

/** Saves a view under its name: in the place of the known one, which must be unchanged, or as the first of this name. */
export const saveView = (
  { name, ...view }: Omit<SavedView, 'revision'>,
  known: SavedView | undefined,
) =>
  sendRepeatable({
    method: 'PUT',
    path: pathOf(name),
    body: JSON.stringify(view),
    ifRevision: known?.revision ?? undefined,
    ifAbsent: known === undefined,
  })

export const deleteView = (name: string) => sendRepeatable({ method: 'DELETE', path: pathOf(name) })
