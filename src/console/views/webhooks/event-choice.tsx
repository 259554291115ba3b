/** Event subscription of an endpoint: all, or some by group. */
import { useState } from 'preact/hooks';
import { FieldError } from '../../../pages/components/field.tsx';
import { ChooseMany, ChooseOne } from '../../components/choices.tsx';
import type { CustomProps } from '../../components/form-fields.tsx';
import { EVENT_GROUPS, EVENT_TYPES, meaningOf } from './event-words.ts';

/** `['*']` stands for all. */
export function EventChoice({ value: chosen, errorOf, set }: CustomProps<string[]>) {
  const isAll = chosen.includes('*');
  // Keeps the single choices while "all" is selected.
  const [some, setSome] = useState<readonly string[]>(isAll ? [] : chosen);

  function choose(types: string[]): void {
    setSome(types);
    set(types);
  }

  return (
    <>
      <ChooseOne
        id="webhook-events"
        label="Events"
        chosen={isAll ? 'all' : 'some'}
        choices={[
          { value: 'all', label: 'All events', detail: 'Including future ones.' },
          { value: 'some', label: 'Only some' },
        ]}
        onChange={(which) => set(which === 'all' ? ['*'] : [...some])}
      />
      {!isAll && (
        <div class="event-groups">
          {EVENT_GROUPS.map(({ title, types }) => (
            <ChooseMany
              key={title}
              id={`events-${title.toLowerCase()}`}
              label={title}
              choices={types.map((type) => ({ value: type, label: <code>{type}</code>, detail: meaningOf(type) }))}
              chosen={chosen}
              onChange={(next) => choose(EVENT_TYPES.filter((type) => next.includes(type)))}
            />
          ))}
        </div>
      )}
      <FieldError id="webhook-events" error={errorOf('events')} />
    </>
  );
}
