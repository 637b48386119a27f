import { read, sendRepeatable } from './server.ts'

/** A saved view of the caller: the query of the address of a screen. */
export interface SavedView {
  name: string
  screen: string
  query: string
}

const pathOf = (name: string) => `/me/views/${encodeURIComponent(name)}`

export const listViews = async (signal?: AbortSignal): Promise<SavedView[]> =>
  (await read<{ views: SavedView[] }>('/me/views', {}, signal)).views

/** Saves a view under its name, replacing an earlier one. */
export const saveView = ({ name, ...view }: SavedView) =>
  sendRepeatable({ method: 'PUT', path: pathOf(name), body: JSON.stringify(view) })

export const deleteView = (name: string) => sendRepeatable({ method: 'DELETE', path: pathOf(name) })
