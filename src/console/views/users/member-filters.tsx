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
  /** Called before a filter opens, so that its choices can load. */
  readonly onNear?: () => void;
  readonly onChange: (change: Shown) => void;
}

export function MemberFilters({ idPrefix = '', filters, access, onNear, onChange }: MemberFiltersProps) {
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
      onNear={onNear}
      onChange={onChange}
    />
  );
}
