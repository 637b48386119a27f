/** Screens by the key that opens them after `g`. */
export const SCREEN_KEYS: readonly (readonly [key: string, to: string, label: string])[] = [
  ['h', '', 'Home'],
  ['e', 'executions', 'Executions'],
  ['w', 'workflows', 'Workflows'],
  ['q', 'queue', 'Queue'],
  ['a', 'approvals', 'Approvals'],
  ['s', 'schedules', 'Schedules'],
  ['k', 'workers', 'Workers'],
  ['x', 'secrets', 'Secrets'],
  ['c', 'configs', 'Configs'],
  ['p', 'access', 'Access'],
  ['l', 'audit', 'Audit'],
  ['t', 'settings', 'Settings'],
]

/** Every key of the console and its effect. */
export const KEYS: readonly (readonly [keys: string, effect: string])[] = [
  ['Ctrl K or ⌘ K', 'Open the palette: screens, workflows, executions, actions'],
  ['?', 'List the keys'],
  ['/', 'Go to the first filter of the screen'],
  ['Ctrl Enter', 'Run, on the screen that starts a workflow'],
  ['Esc', 'Close what is open'],
  ...SCREEN_KEYS.map(([key, , label]) => [`g ${key}`, label] as const),
]
