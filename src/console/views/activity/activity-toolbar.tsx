/** Activity filters, those that a record or a link has chosen, and the live switch. */
import { X } from 'lucide';
import { Icon } from '../../../pages/components/icon.tsx';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import type { Filters } from '../../address.ts';
import { activeFilters, FilterBar } from '../../components/filter-bar.tsx';
import { FilterFields, SearchField } from '../../components/filters.tsx';
import { Status } from '../../components/status.tsx';
import { useLive } from '../../shell/live.tsx';
import { type ACTIVITY_FILTERS, COLLAPSING } from './activity-filters.ts';
import { countries } from './countries.ts';
import { type AuthEvent, FAMILIES, kindInWords, reasonInWords } from './kinds.ts';
import { filterOfId, ID_FILTERS, labelOf } from './narrowings.ts';
import { PeopleFound } from './people-found.tsx';

type Shown = Filters<(typeof ACTIVITY_FILTERS)[number] | 'live'>;

interface ActivityToolbarProps {
  /** Applications whose people a search finds. */
  readonly applicationIds: readonly string[];
  readonly filters: Shown;
  /** The list, for the names of ids. */
  readonly events: readonly AuthEvent[];
  readonly onChange: (change: Shown, isTyping?: boolean) => void;
}

const RESULTS = [
  { value: 'ok', label: 'OK' },
  { value: 'error', label: 'Refused or failed' },
];

/** Offers one kind of record beside the families where a link has chosen it. */
function filtersFor({ family }: Shown) {
  const isOneKind = family !== undefined && family !== '' && FAMILIES.every(({ value }) => value !== family);
  const kinds = isOneKind ? [{ value: family, label: kindInWords(family) }, ...FAMILIES] : FAMILIES;
  return [
    { name: 'status', label: 'Result', any: 'Any result', choices: RESULTS },
    { name: 'family', label: 'Kind', any: 'Any kind', choices: kinds },
    { name: 'country', label: 'Country', any: 'Any country', choices: countries() },
  ] as const;
}

/** Width in pixels that all filters and the live switch need in one row. */
const IN_ONE_ROW_PX = 1120;

export function ActivityToolbar({ applicationIds, filters, events, onChange }: ActivityToolbarProps) {
  function search(text: string): void {
    const filter = filterOfId(text);
    if (filter) onChange({ [filter]: text, q: undefined });
    else onChange({ q: text }, true);
  }

  return (
    <>
      <FilterBar
        search={
          <SearchField
            id="search"
            label="E-mail, name or id"
            value={filters.q ?? ''}
            opensIds
            onTrace={search}
            onSearch={search}
          />
        }
        active={activeFilters(filters, COLLAPSING)}
        collapseBelow={IN_ONE_ROW_PX}
        onClear={() => onChange(NO_CHOICES)}
        end={<LiveSwitch isLive={filters.live !== 'off'} onSwitch={(live) => onChange({ live })} />}
      >
        <FilterFields of={filtersFor(filters)} filters={filters} onChange={onChange} />
        <span class="days">
          <Day id="from" label="From" value={filters.from} onChoose={(from) => onChange({ from })} />
          <Day id="to" label="To" value={filters.to} onChoose={(to) => onChange({ to })} />
        </span>
      </FilterBar>
      <ChosenFilters filters={filters} events={events} onChange={onChange} />
      {filters.q && (
        <PeopleFound
          applicationIds={applicationIds}
          q={filters.q}
          onChoose={(userId) => onChange({ userId, q: undefined })}
        />
      )}
    </>
  );
}

const NO_CHOICES: Shown = Object.fromEntries(COLLAPSING.map((name) => [name, undefined]));

function LiveSwitch({ isLive, onSwitch }: { isLive: boolean; onSwitch: (live: 'off' | undefined) => void }) {
  const { isConnected } = useLive();
  return (
    <span class="live-switch">
      {isLive && <Status tone={isConnected ? 'good' : 'warn'}>{isConnected ? 'Connected' : 'Connecting'}</Status>}
      <Checkbox id="live" label="Live" isChecked={isLive} onChange={(isOn) => onSwitch(isOn ? undefined : 'off')} />
    </span>
  );
}

/** Each shows what it keeps, and removes itself. */
function ChosenFilters({ filters, events, onChange }: Omit<ActivityToolbarProps, 'applicationIds'>) {
  const byId = ID_FILTERS.flatMap((name) => {
    const value = filters[name];
    return value ? [{ name, label: labelOf(name, value, events) }] : [];
  });
  const { reason } = filters;
  const set = reason ? [...byId, { name: 'reason' as const, label: `Refused: ${reasonInWords(reason)}` }] : byId;
  if (set.length === 0) return null;
  return (
    <div class="id-filters" role="group" aria-label="Chosen filters">
      {set.map(({ name, label }) => (
        <button
          key={name}
          class="button small"
          type="button"
          aria-label={`Remove the filter: ${label}`}
          onClick={() => onChange({ [name]: undefined })}
        >
          <bdi>{label}</bdi>
          <Icon of={X} size={16} />
        </button>
      ))}
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
