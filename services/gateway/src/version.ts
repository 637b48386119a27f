/** The release; a test holds it against the root package.json. */
export const VERSION = '0.1.0'
