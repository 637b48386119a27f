const NAME = /^[A-Za-z0-9._-]{1,128}$/

/** True for a valid worker name: 1 to 128 of letters, digits, `.`, `_`, `-`, but not `.` or `..`. */
export const isName = (text: string): boolean => NAME.test(text) && text !== '.' && text !== '..'
