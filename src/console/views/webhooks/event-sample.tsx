/** The catalogue of events: what each means, and a sample of its body. */
import { EVENT_SAMPLES } from '../../../core/event-samples.ts';
import { useState } from 'preact/hooks';
import { SelectField } from '../../../pages/components/select-field.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Action } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { EVENT_GROUPS, EVENT_TYPES, type EventType, meaningOf } from './event-words.ts';

const HEAD = { id: 'evt_01kjmma2g0e4s8m1p1e5e55100', createdAt: '2026-01-31T12:00:00.000Z' };

/** Returns the body of a sample, as an endpoint of this application would receive it. */
function sampleOf(type: EventType, applicationId: string): string {
  const { id, createdAt } = HEAD;
  return JSON.stringify({ id, type, createdAt, applicationId, data: EVENT_SAMPLES[type] }, null, 2);
}

interface EventSampleProps {
  readonly applicationId: string;
  readonly type: EventType;
}

export function EventSample({ applicationId, type }: EventSampleProps) {
  return <CopyBox id="event-sample" value={sampleOf(type, applicationId)} label={`Sample of ${type}`} />;
}

interface EventCatalogueProps {
  readonly applicationId: string;
  /** Types that the endpoint subscribes to; `*` for all. */
  readonly subscribed: readonly string[];
  readonly isDisabled: boolean;
  readonly onSend: (type: EventType) => unknown;
}

export function EventCatalogue({ applicationId, subscribed, isDisabled, onSend }: EventCatalogueProps) {
  const isSent = (type: EventType) => subscribed.includes('*') || subscribed.includes(type);
  const [type, setType] = useState(EVENT_TYPES.find(isSent) ?? 'user.signed_in');
  return (
    <Panel
      title="Event catalogue"
      lead="A sample is sent to this webhook alone, signed like any event, with isSample in its data."
      action={
        <Action id="send-sample" isDisabled={isDisabled} onClick={() => onSend(type)}>
          Send this sample
        </Action>
      }
    >
      <SelectField
        id="sample-type"
        label="Event"
        value={type}
        choices={EVENT_GROUPS.flatMap(({ types }) =>
          types.map((value) => ({ value, label: isSent(value) ? value : `${value} (not subscribed)` })),
        )}
        hint={meaningOf(type)}
        onChoose={(chosen) => setType(EVENT_TYPES.find((one) => one === chosen) ?? type)}
      />
      <EventSample applicationId={applicationId} type={type} />
    </Panel>
  );
}
