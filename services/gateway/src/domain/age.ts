const AGE = /^P(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?$/

/**
 * Returns the milliseconds of an ISO 8601 duration of days, hours, minutes and seconds; undefined
 * for other text.
 */
export function ageOf(text: string): number | undefined {
  const match = AGE.exec(text)
  if (!match) return undefined
  const parts = match.slice(1)
  if (parts.every((part) => part === undefined)) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000
}
