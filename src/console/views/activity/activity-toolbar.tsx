/** Activity filters and the live switch. */
import { X } from 'lucide';
import { Icon } from '../../../pages/components/icon.tsx';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import type { Filters } from '../../address.ts';
import { FilterFields, SearchField } from '../../components/filters.tsx';
import { Status } from '../../components/status.tsx';
import { useLive } from '../../shell/live.tsx';
import type { ACTIVITY_FILTERS } from './activity-filters.ts';
import { COUNTRIES } from './countries.ts';
import { FAMILIES } from './kinds.ts';

type Shown = Filters<(typeof ACTIVITY_FILTERS)[number] | 'live'>;

interface ActivityToolbarProps {
  readonly filters: Shown;
  readonly onChange: (change: Shown, isTyping?: boolean) => void;
  readonly canBeLive: boolean;
}

const RESULTS = [
  { value: 'ok', label: 'OK' },
  { value: 'error', label: 'Refused or failed' },
];

const FILTERS = [
  { name: 'status', label: 'Result', any: 'Any result', choices: RESULTS },
  { name: 'family', label: 'Kind', any: 'Any kind', choices: FAMILIES },
  { name: 'country', label: 'Country', any: 'Any country', choices: COUNTRIES },
] as const;

export function ActivityToolbar({ filters, onChange, canBeLive }: ActivityToolbarProps) {
  const { isConnected } = useLive();
  const isLive = filters.live !== 'off';
  return (
    <div class="toolbar" role="search" aria-label="Filters">
      <SearchField id="search" label="E-mail" value={filters.q ?? ''} onSearch={(q) => onChange({ q }, true)} />
      <FilterFields of={FILTERS} filters={filters} onChange={onChange} />
      <span class="days">
        <Day id="from" label="From" value={filters.from} onChoose={(from) => onChange({ from })} />
        <Day id="to" label="To" value={filters.to} onChoose={(to) => onChange({ to })} />
      </span>
      {filters.userId && (
        <button
          class="button small"
          type="button"
          aria-label="Show everybody’s activity"
          onClick={() => onChange({ userId: undefined })}
        >
          <span>One person</span>
          <Icon of={X} size={16} />
        </button>
      )}
      {canBeLive && (
        <>
          <span class="spacer" />
          {isLive && <Status tone={isConnected ? 'good' : 'warn'}>{isConnected ? 'Connected' : 'Connecting'}</Status>}
          <Checkbox
            id="live"
            label="Live"
            isChecked={isLive}
            onChange={(isOn) => onChange({ live: isOn ? undefined : 'off' })}
          />
        </>
      )}
    </div>
  );
}

interface DayProps {
  readonly id: string;
  readonly label: string;
  /** A day or a timestamp; only its day is shown. */
  readonly value: string | undefined;
  readonly onChoose: (day: string | undefined) => void;
}

function Day({ id, label, value, onChoose }: DayProps) {
  return (
    <label class="day" for={id}>
      <span class="muted">{label}</span>
      <input
        id={id}
        type="date"
        value={value?.slice(0, 10) ?? ''}
        onChange={({ currentTarget }) => onChoose(currentTarget.value || undefined)}
      />
    </label>
  );
}
