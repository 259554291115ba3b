/** Panels for the instance and its queues. */
import type { Schemas } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { Panel } from '../../components/panel.tsx';
import { Time } from '../../components/time.tsx';
import { count, duration } from '../../components/format.ts';

const MODE_WORDS: Readonly<Record<Schemas['InstanceMode'], string>> = {
  normal: 'Normal',
  dev: 'Development',
  ephemeral: 'Ephemeral: all data is lost when it stops',
};

export function InstancePanel({ health }: { readonly health: Schemas['InstanceHealth'] }) {
  const { version, startedAt, uptimeSeconds, mode, baseUrl } = health;
  return (
    <Panel id="instance" title="Instance">
      <Facts
        of={[
          ['Version', version],
          ['Base URL', <Copyable value={baseUrl} label="base URL" />],
          ['Mode', MODE_WORDS[mode]],
          ['Uptime', duration(uptimeSeconds)],
          ['Started', <Time at={startedAt} />],
        ]}
      />
    </Panel>
  );
}

export function QueuesPanel({ queues }: { readonly queues: Schemas['InstanceQueues'] }) {
  const { changes, mailsQueued, deliveriesQueued, deliveriesHeld, longWork } = queues;
  return (
    <Panel id="queues" title="Waiting">
      <Facts
        of={[
          ['Changes', count(changes)],
          ['Mails with codes', count(mailsQueued.code)],
          ['Notices', count(mailsQueued.notice)],
          ['Bulk mails', count(mailsQueued.bulk)],
          ['Deliveries, due', count(deliveriesQueued)],
          ['Deliveries, held', count(deliveriesHeld)],
          ['Background tasks', count(longWork)],
        ]}
      />
    </Panel>
  );
}
