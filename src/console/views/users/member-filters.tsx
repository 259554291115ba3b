/** Filters for users: status and grants. */
import type { Filters } from '../../address.ts';
import { Filter } from '../../components/filters.tsx';
import { type Access, grantChoices } from '../grants/access.ts';
import { STATUS_CHOICES } from './statuses.ts';

type Shown = Filters<'status' | 'role' | 'membership'>;

interface MemberFiltersProps {
  readonly idPrefix?: string;
  readonly filters: Shown;
  /** Null while loading. */
  readonly access: Access | null;
  readonly onChange: (change: Shown) => void;
}

export function MemberFilters({ idPrefix = '', filters, access, onChange }: MemberFiltersProps) {
  return (
    <>
      <Filter
        id={`${idPrefix}status`}
        label="Status"
        any="Any status"
        value={filters.status}
        choices={STATUS_CHOICES}
        onChoose={(status) => onChange({ status })}
      />
      <Filter
        id={`${idPrefix}role`}
        label="Role"
        any="Any role"
        value={filters.role}
        choices={grantChoices(access?.roles, filters.role)}
        onChoose={(role) => onChange({ role })}
      />
      <Filter
        id={`${idPrefix}membership`}
        label="Group"
        any="Any group"
        value={filters.membership}
        choices={grantChoices(access?.memberships, filters.membership)}
        onChoose={(membership) => onChange({ membership })}
      />
    </>
  );
}
