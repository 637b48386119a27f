/**
 * A name as the end of a NATS subject. The server refuses empty tokens, so a dot that would make
 * one is written `~`; nothing else of what names may hold needs care.
 */
export const subjectOf = (prefix: string, name: string): string =>
  `${prefix}.${name.replace(/^\.|\.$|\.(?=\.)/g, '~')}`
