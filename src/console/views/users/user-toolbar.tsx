/** Filters and order of the user list. */
import type { Filters } from '../../address.ts';
import { activeFilters, FilterBar } from '../../components/filter-bar.tsx';
import { FilterFields, SearchField } from '../../components/filters.tsx';
import { useRights } from '../../console-context.tsx';
import type { LazyAccess } from '../grants/access.ts';
import { MemberFilters } from './member-filters.tsx';
import type { USER_FILTERS } from './user-filters.ts';

type Shown = Filters<(typeof USER_FILTERS)[number]>;

interface UserToolbarProps {
  readonly filters: Shown;
  readonly access: LazyAccess;
  readonly onChange: (change: Shown, isTyping?: boolean) => void;
}

const ORDER = {
  name: 'sort',
  label: 'Order',
  any: 'By last seen',
  choices: [{ value: 'joined', label: 'By joining' }],
} as const;

const COLLAPSING = ['status', 'role', 'membership', 'sort'] as const;

export function UserToolbar({ filters, access, onChange }: UserToolbarProps) {
  const { canWrite } = useRights();
  return (
    <FilterBar
      search={
        <SearchField
          id="search"
          label={canWrite ? 'E-mail, name or id' : 'E-mail or username'}
          value={filters.q ?? ''}
          opensIds
          onSearch={(q) => onChange({ q, why: undefined }, true)}
        />
      }
      onOpen={access.need}
      active={activeFilters(filters, COLLAPSING)}
      onClear={() => onChange({ status: undefined, role: undefined, membership: undefined, sort: undefined })}
    >
      <MemberFilters filters={filters} access={access.data} onNear={access.need} onChange={onChange} />
      <FilterFields of={[ORDER]} filters={filters} onChange={onChange} />
    </FilterBar>
  );
}
