/** Filters above a list: typing is debounced, choices apply at once. */
import { Search } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Icon } from '../../pages/components/icon.tsx';
import { Select, type SelectChoice } from '../../pages/components/select-field.tsx';
import type { Filters } from '../address.ts';
import { useConsole } from '../console-context.tsx';
import { findRecord, prefixOf, traceOf } from '../find-record.ts';

const TYPING_MS = 250;

interface SearchFieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** Whether a whole id goes to its record instead of being searched for. */
  readonly opensIds?: boolean;
  /** Called with a whole id that has no view of its own; by default, the activity about it opens. */
  readonly onTrace?: (id: string) => void;
  readonly onSearch: (value: string) => void;
}

export function SearchField({ id, label, value, opensIds = false, onTrace, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // Uses the latest callback: another filter or view may be opened before typing pauses.
  const latest = useRef<(text: string) => unknown>(onSearch);
  latest.current = search;
  const typing = useRef(0);
  const known = useConsole();
  const [location, navigate] = useLocation();

  async function search(text: string): Promise<void> {
    const current = ++typing.current;
    if (!opensIds || prefixOf(text) === null) return onSearch(text);
    const application = known.applications.find(({ id }) => location.split('/')[2] === id) ?? null;
    const [record] = await findRecord(text, application, known);
    if (current !== typing.current) return;
    setTyped(value);
    if (record?.href === undefined && onTrace) return onTrace(text.toLowerCase());
    navigate(record?.href ?? traceOf(text, known.workspace.id).href);
  }

  useEffect(
    () => () => {
      clearTimeout(timer.current);
      typing.current += 1;
    },
    [],
  );
  // History navigation changes the search.
  useEffect(() => setTyped(value), [value]);
  return (
    <div class="search">
      <Icon of={Search} size={16} />
      <input
        id={id}
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          typing.current += 1;
          clearTimeout(timer.current);
          timer.current = setTimeout(() => latest.current(currentTarget.value.trim()), TYPING_MS);
        }}
      />
    </div>
  );
}

interface Filter<Name extends string> {
  readonly name: Name;
  /** The name by default. */
  readonly id?: string;
  readonly label: string;
  /** Label of the unfiltered choice: "Any status". */
  readonly any: string;
  readonly choices: readonly SelectChoice[];
}

interface FilterFieldsProps<Name extends string> {
  readonly of: readonly Filter<Name>[];
  readonly filters: Filters<Name>;
  /** Called when the pointer or the focus reaches a filter. */
  readonly onNear?: (() => void) | undefined;
  readonly onChange: (change: Filters<Name>) => void;
}

export function FilterFields<Name extends string>({ of, filters, onNear, onChange }: FilterFieldsProps<Name>) {
  return (
    <>
      {of.map(({ name, id = name, label, any, choices }) => (
        <Select
          key={id}
          id={id}
          label={label}
          none={any}
          value={filters[name] ?? ''}
          choices={choices}
          isSmall
          onNear={onNear}
          onChoose={(chosen) => onChange({ [name]: chosen || undefined } as Filters<Name>)}
        />
      ))}
    </>
  );
}
