/** Shows a device's request and the access it would get. All values are rendered as text. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { intlName } from '../components/intl-name.ts';
import { useTexts } from '../components/texts.tsx';

/** A device request as the server describes it to the deciding person's session. */
export interface DeviceRequest {
  readonly userCode: string;
  readonly status: 'pending' | 'approved' | 'denied' | 'redeemed';
  readonly application: { readonly id: string; readonly clientId: string; readonly name: string };
  readonly device: {
    readonly name: string | null;
    readonly ip: string | null;
    readonly ipCountry: string | null;
    readonly userAgent: string | null;
  };
  readonly grants: {
    readonly actsAs: { readonly userId: string; readonly email: string; readonly name: string | null };
    readonly roles: readonly string[];
    readonly scopes: readonly string[];
    readonly memberships: readonly string[];
    readonly workspaces: readonly {
      readonly workspaceId: string;
      readonly name: string;
      readonly role: 'owner' | 'admin' | 'member';
    }[];
  };
  /** When the key will end; null if only a disconnection ends it. */
  readonly keyEndsAt: string | null;
  readonly requestedAt: string;
  readonly expiresAt: string;
}

interface RequestProps {
  readonly request: DeviceRequest;
  readonly userCode: string;
  readonly appName: string;
  readonly deciding: 'approve' | 'deny' | null;
  onDecide(decision: 'approve' | 'deny'): void;
  onChangeAccount(): void;
}

export function Request({ request, userCode, appName, deciding, onDecide, onChangeAccount }: RequestProps) {
  const text = useTexts();
  const { device, grants, keyEndsAt, requestedAt } = request;
  const { name, email } = grants.actsAs;
  const place = placeOf(device, text.locale);
  const time = timeOf(requestedAt, text.locale);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const before = document.title;
    document.title = text('device.confirmTitle');
    heading.current?.focus();
    return () => {
      document.title = before;
    };
  }, []);
  return (
    <section class="step" id="confirm">
      <h1 tabIndex={-1} ref={heading}>
        {text('device.confirmTitle')}
      </h1>
      <p class="lead">{text('device.confirmLead', { app: appName })}</p>
      <dl class="facts">
        <dt>{text('device.codeTitle')}</dt>
        <dd>
          <div class="shown-code" translate={false}>
            {userCode}
          </div>
          <Line isSmall>{text('device.codeHint')}</Line>
        </dd>
        <dt>{text('device.accountTitle')}</dt>
        <dd>
          <div id="account" translate={false}>
            <Line>{name && name !== email ? name : email}</Line>
            {name && name !== email && <Line isSmall>{email}</Line>}
          </div>
          <button class="link" id="change-account" type="button" onClick={onChangeAccount}>
            {text('device.changeAccount')}
          </button>
        </dd>
        <dt>{text('device.deviceTitle')}</dt>
        <dd id="device">
          <Line>{device.name ?? text('device.unnamedDevice')}</Line>
          {device.name === null && device.userAgent && <Line isSmall>{device.userAgent}</Line>}
          <Line isSmall>{place ? text('device.askedFrom', { time, place }) : text('device.asked', { time })}</Line>
        </dd>
        <dt>{text('device.accessTitle')}</dt>
        <dd id="access">
          <AccessFacts grants={grants} />
        </dd>
        <EndFact at={keyEndsAt} />
      </dl>
      <p class="warning" id="warning">
        {text('device.warning')}
      </p>
      <div class="actions">
        <Button
          id="approve"
          aria-describedby="warning"
          busyText={deciding === 'approve' && text('device.confirming')}
          onClick={() => onDecide('approve')}
        >
          {text('device.confirm')}
        </Button>
        <Button
          id="deny"
          look="plain"
          busyText={deciding === 'deny' && text('device.declining')}
          onClick={() => onDecide('deny')}
        >
          {text('device.decline')}
        </Button>
      </div>
    </section>
  );
}

export function AccessFacts({ grants }: Pick<DeviceRequest, 'grants'>) {
  const text = useTexts();
  const kinds = [
    ['device.roles', grants.roles],
    ['device.scopes', grants.scopes],
    ['device.memberships', grants.memberships],
  ] as const;
  const given = kinds.filter(([, slugs]) => slugs.length > 0);
  if (given.length === 0 && grants.workspaces.length === 0) return <Line>{text('device.accessPlain')}</Line>;
  return (
    <>
      {grants.workspaces.map(({ workspaceId, name, role }) => (
        <Line key={workspaceId}>{text('device.workspaceRole', { role: text(`device.${role}`), workspace: name })}</Line>
      ))}
      {given.map(([label, slugs]) => (
        <div key={label}>
          <Line isSmall>{text(label)}</Line>
          <ul class="tags" translate={false}>
            {slugs.map((slug) => (
              <li key={slug}>{slug}</li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

/** Says when the key ends by itself. @param at ISO time; null if only a disconnection ends it. */
export function EndFact({ at }: { readonly at: string | null }) {
  const text = useTexts();
  const date = at && new Intl.DateTimeFormat(text.locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));
  return (
    <>
      <dt>{text('device.endTitle')}</dt>
      <dd id="end">
        <Line>{date ? text('device.endOn', { date }) : text('device.endNever')}</Line>
      </dd>
    </>
  );
}

export function Line({ isSmall = false, children }: { isSmall?: boolean; children: ComponentChildren }) {
  return (
    <div class={isSmall ? 'fine' : undefined} dir="auto">
      {children}
    </div>
  );
}

function placeOf({ ip, ipCountry }: DeviceRequest['device'], locale: string): string | null {
  if (!ipCountry) return ip;
  const country = intlName(ipCountry, 'region', locale);
  return ip ? `${ip} (${country})` : country;
}

function timeOf(timestamp: string, locale: string): string {
  const time = new Date(timestamp);
  const isToday = time.toDateString() === new Date().toDateString();
  const style = isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' };
  return new Intl.DateTimeFormat(locale, style as Intl.DateTimeFormatOptions).format(time);
}
