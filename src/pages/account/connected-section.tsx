/** Devices that act for the reader with their own key; each can be renamed and disconnected. */
import { Cable } from 'lucide';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { accountFailureText } from './failure-words.ts';
import { hyphenated } from '../../core/hyphenated.ts';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';
import { IpAddress } from './ip-address.tsx';
import { More } from './more.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { usePages } from './use-pages.ts';
import { countryOf, dateText, joined, usedText } from './words.ts';

interface Device {
  readonly id: string;
  readonly name: string;
  readonly application: { readonly id: string; readonly name: string };
  readonly ip: string | null;
  readonly ipCountry: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

const PATH = '/api/account/devices';

type Asked = { readonly to: 'rename' | 'disconnect'; readonly device: Device };

export function ConnectedSection() {
  const text = useTexts();
  const toast = useToast();
  const { api } = useAccount();
  const devices = usePages<Device>(PATH, true);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [warning, setWarning] = useState<string | null>(null);
  const { items } = devices;

  async function disconnect({ id, name }: Device): Promise<void> {
    const outcome = await api.send('DELETE', `${PATH}/${id}`);
    if (!outcome.ok && outcome.code !== 'not_found') return setWarning(accountFailureText(text, outcome));
    setAsked(null);
    devices.set((shown) => shown.filter((device) => device.id !== id));
    toast(text('account.disconnected', { name }));
  }

  function renamed({ id }: Device, name: string | null): void {
    setAsked(null);
    if (name === null) return;
    devices.set((shown) => shown.map((device) => (device.id === id ? { ...device, name } : device)));
    toast(text('account.renamed'));
  }

  function ask(next: Asked): void {
    setWarning(null);
    setAsked(next);
  }

  const button = (to: Asked['to'], device: Device) => {
    const action = text(`account.${to}`);
    return (
      <Button
        look="small"
        aria-label={text('account.actionFor', { action, name: device.name })}
        onClick={() => ask({ to, device })}
      >
        {action}
      </Button>
    );
  };

  return (
    <Section id="connected" title={text('account.connected')} lead={text('account.connectedLead')}>
      {items === null && <RowsSkeleton count={1} />}
      {items?.length === 0 && <Empty>{text('account.connectedNone')}</Empty>}
      {items && items.length > 0 && (
        <Rows>
          {items.map((device) => (
            <Row
              key={device.id}
              icon={<Icon of={Cable} />}
              title={device.name}
              detail={
                <>
                  {joined(
                    hyphenated(device.application.name),
                    text('account.connectedOn', { date: dateText(text, device.createdAt) }),
                    usedText(text, device.lastUsedAt),
                    countryOf(device, text.locale),
                  )}
                  <IpAddress of={device.ip} />
                </>
              }
              action={
                <>
                  {button('rename', device)}
                  {button('disconnect', device)}
                </>
              }
            />
          ))}
        </Rows>
      )}
      <More pages={devices} />
      {asked?.to === 'rename' && (
        <RenameDialog
          name={asked.device.name}
          save={(name) => api.send('PATCH', `${PATH}/${asked.device.id}`, { name })}
          onEnd={(name) => renamed(asked.device, name)}
        />
      )}
      {asked?.to === 'disconnect' && (
        <ConfirmDialog
          id="disconnect-dialog"
          title={text('account.disconnectTitle', { name: asked.device.name })}
          lead={text('account.disconnectDeviceLead')}
          warning={warning}
          confirmText={text('account.disconnect')}
          busyText={text('account.disconnecting')}
          onConfirm={() => disconnect(asked.device)}
          onClose={() => setAsked(null)}
        />
      )}
    </Section>
  );
}
