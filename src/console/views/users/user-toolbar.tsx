/** What narrows the list of users down, and its order. */
import type { Filters } from '../../address.ts';
import { Filter, SearchField } from '../../components/filters.tsx';
import { type Access, grantChoices } from '../grants/access.ts';
import { STATUS_CHOICES } from './statuses.ts';
import type { USER_FILTERS } from './users.tsx';

type Shown = Filters<(typeof USER_FILTERS)[number]>;

interface UserToolbarProps {
  readonly filters: Shown;
  /** Null until it is known what can be held. */
  readonly access: Access | null;
  readonly onChange: (change: Shown, isTyping?: boolean) => void;
}

const SORTS = [{ value: 'joined', label: 'By joining' }];

export function UserToolbar({ filters, access, onChange }: UserToolbarProps) {
  return (
    <div class="toolbar" role="search" aria-label="Filters">
      <SearchField
        id="search"
        label="E-mail, name or username"
        value={filters.q ?? ''}
        onSearch={(q) => onChange({ q, why: undefined }, true)}
      />
      <Filter
        id="status"
        label="Status"
        any="Any status"
        value={filters.status}
        choices={STATUS_CHOICES}
        onChoose={(status) => onChange({ status })}
      />
      <Filter
        id="role"
        label="Role"
        any="Any role"
        value={filters.role}
        choices={grantChoices(access?.roles, filters.role)}
        onChoose={(role) => onChange({ role })}
      />
      <Filter
        id="membership"
        label="Group"
        any="Any group"
        value={filters.membership}
        choices={grantChoices(access?.memberships, filters.membership)}
        onChoose={(membership) => onChange({ membership })}
      />
      <Filter
        id="sort"
        label="Order"
        any="By last seen"
        value={filters.sort}
        choices={SORTS}
        onChoose={(sort) => onChange({ sort })}
      />
    </div>
  );
}
