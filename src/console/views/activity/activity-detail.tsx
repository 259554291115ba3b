/** Detail of an audit record: result, subject, actor and origin. */
import { Link, useLocation } from 'wouter-preact';
import { addresses, withSearch } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { AbsentDetail } from '../../components/absent-detail.tsx';
import { Copyable, CopyBox } from '../../components/copy.tsx';
import { type Fact, Facts } from '../../components/facts.tsx';
import { Detail, DetailPart } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { capitalised, exactTime } from '../../components/format.ts';
import { useLoaded } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';
import { Actor } from './actor.tsx';
import { countryName } from './countries.ts';
import { Person, Result } from './event-parts.tsx';
import { type AuthEvent, kindInWords, methodInWords, reasonOf } from './kinds.ts';
import { narrowingsOf } from './narrowings.ts';
import { explanationOf, isExplained } from './refusal.ts';
import { shownEvent } from './shown-event.ts';
import type { ActivitySource } from './source.ts';

interface ActivityDetailProps {
  readonly id: string;
  readonly source: ActivitySource;
  /** Record from the list; fetched if absent. */
  readonly known: AuthEvent | undefined;
  readonly closeTo: string;
}

export function ActivityDetail({ id, source, known, closeTo }: ActivityDetailProps) {
  const { data, failure, reload } = useLoaded<AuthEvent>(
    async () => (known ? { ok: true, data: known } : source.one(id)),
    [source.id, id],
  );
  const event = known ?? data;
  if (!event)
    return (
      <AbsentDetail
        title="Record"
        closeTo={closeTo}
        failure={failure}
        onRetry={reload}
        missing="There is no such record. The server’s settings say how long records are kept."
      />
    );
  return (
    <Detail
      title={kindInWords(event.kind)}
      subtitle={<code>{event.kind}</code>}
      closeTo={closeTo}
      actions={isExplained(event) && <WhyRefused event={event} />}
    >
      <Record event={shownEvent(event)} />
      <Related event={event} source={source} />
      <DetailPart title="As JSON">
        <CopyBox id="record-json" value={JSON.stringify(shownEvent(event), null, 2)} label="the record" />
      </DetailPart>
    </Detail>
  );
}

function WhyRefused({ event }: { readonly event: AuthEvent }) {
  const [, navigate] = useLocation();
  return (
    <Action id="why-refused" needs="nothing" onClick={async () => navigate(await explanationOf(event))}>
      Why was this person refused?
    </Action>
  );
}

/** Links to the records that share a part with this one. */
function Related({ event, source }: { readonly event: AuthEvent; readonly source: ActivitySource }) {
  return (
    <DetailPart title="Show in the list">
      <ul class="related">
        {narrowingsOf(event).map(({ filter, value, label }) => (
          <li key={filter}>
            <Link href={withSearch(source.address(), `${new URLSearchParams({ [filter]: value })}`)}>
              <bdi>{label}</bdi>
            </Link>
          </li>
        ))}
      </ul>
    </DetailPart>
  );
}

function Record({ event }: { readonly event: AuthEvent }) {
  const { applications } = useConsole();
  const { applicationId, userId, email, targetId, targetName, ip, ipCountry, requestId, createdAt, detail } = event;
  const application = applications.find((one) => one.id === applicationId);
  const reason = reasonOf(event);
  const particulars = Object.entries(detail ?? {}).filter(([name]) => name !== 'reason' || reason === null);
  return (
    <>
      <Facts
        of={[
          ['Result', <Result of={event} />],
          reason !== null && [
            'Reason',
            <>
              {capitalised(reason)}
              {reason !== detail?.['reason'] && <code class="fine block">{String(detail?.['reason'])}</code>}
            </>,
          ],
          [
            'When',
            <>
              <Time at={createdAt} />
              <span class="fine block">{exactTime(createdAt)}</span>
            </>,
          ],
          (email !== null || userId !== null) && [
            'About',
            <>
              <Person of={event} />
              {userId !== null && email !== null && (
                <span class="block">
                  <Copyable value={userId} label="user id" />
                </span>
              )}
            </>,
          ],
          ['Done by', <Actor of={event} />],
          application !== undefined && [
            'Application',
            <Link dir="auto" href={addresses.application(application.id, 'overview')}>
              {application.name}
            </Link>,
          ],
          targetId !== null && [
            'Target',
            <>
              {targetName !== null && <bdi class="block">{targetName}</bdi>}
              <Copyable value={targetId} label="target id" />
            </>,
          ],
          ip !== null && ['Address', <code>{ip}</code>],
          ipCountry !== null && ['Country', `${countryName(ipCountry)} (${ipCountry})`],
          requestId !== null && ['Request', <Copyable value={requestId} label="request id" />],
          ['Record', <Copyable value={event.id} label="record id" />],
        ]}
      />
      {particulars.length > 0 && (
        <DetailPart title="Details">
          <Facts of={particulars.map(particular)} />
        </DetailPart>
      )}
    </>
  );
}

function particular([name, value]: [string, unknown]): Fact {
  if (name === 'method' && typeof value === 'string') return ['Method', methodInWords(value)];
  if (typeof value === 'string' && ISO_TIME.test(value)) return [title(name), <Time at={value} />];
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return [title(name), typeof value === 'string' ? <span dir="auto">{text}</span> : <code>{text}</code>];
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Converts `pausedUntil` to "Paused until". */
function title(name: string): string {
  return capitalised(name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase());
}
