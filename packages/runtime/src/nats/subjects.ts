/**
 * Converts a name to the end of a NATS subject. The server refuses empty tokens, so a dot that would create
 * one is written as `~`; no other character that names may contain needs escaping.
 */
export const subjectOf = (prefix: string, name: string): string =>
  `${prefix}.${name.replace(/^\.|\.$|\.(?=\.)/g, '~')}`
