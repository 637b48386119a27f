import { type Caller, INTERNAL_ISSUER } from '@windlass/domain/caller'

/** The principal that a schedule runs as. */
interface Owned {
  run_as_service_account: string | undefined
  changed_by: string
  changed_by_issuer: string
}

/** The caller of a change, and whether it may name any account for a schedule to run as. */
type Author = Caller & { may_name_accounts: boolean }

export const changedBy = ({ subject, issuer }: Caller) => ({
  changed_by: subject,
  changed_by_issuer: issuer,
  changed_by_client: true,
})

interface AccountChange {
  /** True if the change is to the input, the configuration or the overlap policy. */
  isEffective: boolean
  /** The account that the change names; empty to remove the account. */
  named: string | undefined
  by: Author
}

/**
 * Returns the named account of a schedule after a change. If the change has an effect, the author must be
 * the account or be allowed to name it; otherwise the account is removed, and the schedule runs as the
 * author. The same holds for any change of a schedule that an anonymous caller changed last.
 */
export function accountAfter(
  { run_as_service_account: account, changed_by }: Owned,
  { isEffective, named, by }: AccountChange,
): string | undefined {
  if (named !== undefined) return named || undefined
  const isOfAnonymous = changed_by === ''
  return (isEffective || isOfAnonymous) && !mayActAs(by, account, INTERNAL_ISSUER)
    ? undefined
    : account
}

/**
 * Returns the schedule as the author may resume it: it runs as the author, unless the author may act as its
 * owner.
 */
export function ownedAfterResume<T extends Owned>(row: T, by: Author): T {
  const { run_as_service_account: account, changed_by, changed_by_issuer } = row
  const isKept =
    account === undefined
      ? mayActAs(by, changed_by, changed_by_issuer)
      : mayActAs(by, account, INTERNAL_ISSUER)
  return isKept ? row : { ...row, run_as_service_account: undefined, ...changedBy(by) }
}

const mayActAs = (by: Author, subject: string | undefined, issuer: string): boolean =>
  by.may_name_accounts || (by.subject === subject && by.issuer === issuer)
