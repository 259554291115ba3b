/** Filters for users: status and grants. */
import type { Filters } from '../../address.ts';
import { FilterFields } from '../../components/filters.tsx';
import { type Access, grantChoices } from '../grants/access.ts';
import { STATUS_CHOICES } from './statuses.ts';

type Shown = Filters<'status' | 'role' | 'membership'>;

interface MemberFiltersProps {
  readonly idPrefix?: string;
  readonly filters: Shown;
  readonly access: Access | null;
  readonly onChange: (change: Shown) => void;
}

export function MemberFilters({ idPrefix = '', filters, access, onChange }: MemberFiltersProps) {
  const { role, membership } = filters;
  return (
    <FilterFields
      of={[
        { name: 'status', id: `${idPrefix}status`, label: 'Status', any: 'Any status', choices: STATUS_CHOICES },
        {
          name: 'role',
          id: `${idPrefix}role`,
          label: 'Role',
          any: 'Any role',
          choices: grantChoices(access?.roles, role),
        },
        {
          name: 'membership',
          id: `${idPrefix}membership`,
          label: 'Group',
          any: 'Any group',
          choices: grantChoices(access?.memberships, membership),
        },
      ]}
      filters={filters}
      onChange={onChange}
    />
  );
}
