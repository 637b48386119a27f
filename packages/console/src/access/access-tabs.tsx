import { Tabs } from '../ui/tabs.tsx'

const TABS = [
  { name: 'access', label: 'Principals and keys' },
  { name: 'roles', label: 'Roles' },
]

/** The two lists of the screen about access. */
export const AccessTabs = ({ current }: { current: 'access' | 'roles' }) => (
  <Tabs label="Access" tabs={TABS} current={current} to={(name) => name} />
)
