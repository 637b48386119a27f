/** Parameters of a screen's address that are its state of the moment, and no part of a view. */
const MOMENTARY = ['selected', 'offset']

/** The query of an address as a view keeps it: equal views have equal texts. */
export function viewQuery(query: URLSearchParams): string {
  const kept = new URLSearchParams(query)
  for (const name of MOMENTARY) kept.delete(name)
  kept.sort()
  return kept.toString()
}
