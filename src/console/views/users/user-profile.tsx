/** Profile of a user: picture, names, languages, region and status. */
import type { Schemas } from '../../api.ts';
import { Facts } from '../../components/facts.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useRights } from '../../console-context.tsx';
import { languageOf } from '../../components/languages.ts';
import { countryName } from '../activity/countries.ts';
import { STATUSES, statusOf } from './statuses.ts';

type Detail = Schemas['UserDetail'];

export function UserProfile({ user }: { readonly user: Detail }) {
  const { canWrite } = useRights();
  const { profile, username, emailVerifiedAt, lastSeenAt, joinedAt } = user;
  // Given and family name get lines of their own only if the full name is not made of them.
  const isWhole = profile?.fullName === [profile?.givenName, profile?.familyName].filter(Boolean).join(' ');
  const region = regionOf(profile?.locale ?? null);
  return (
    <>
      {profile && (
        <div class="person">
          <Avatar user={user} />
          <div>
            <strong dir="auto">{profile.fullName ?? username ?? user.email}</strong>
            {username !== null && (
              <span class="fine block" dir="auto">
                @{username}
              </span>
            )}
          </div>
        </div>
      )}
      <Facts
        of={[
          ['Status', <UserStatusText user={user} />],
          !isWhole && profile?.givenName != null && ['Given name', <span dir="auto">{profile.givenName}</span>],
          !isWhole && profile?.familyName != null && ['Family name', <span dir="auto">{profile.familyName}</span>],
          !profile && username !== null && ['Username', <span dir="auto">{username}</span>],
          profile?.locale != null && [
            'Locale',
            `${languageName(profile.locale.split('-')[0] ?? '')}, ${profile.locale}`,
          ],
          region !== null && ['Region', countryName(region)],
          profile?.timezone != null && ['Time zone', profile.timezone.replaceAll('_', ' ')],
          profile !== undefined &&
            profile.languages.length > 0 && [
              'Languages',
              profile.languages.map(({ code, level }) => `${languageName(code)}, ${level.toLowerCase()}`).join('; '),
            ],
          ['Verified', <Time at={emailVerifiedAt} none="The address is not verified yet" />],
          ['Last seen', <Time at={lastSeenAt} none="Never" />],
          ['Joined', <Time at={joinedAt} />],
        ]}
      />
      {!profile && !canWrite && <p class="fine">Names, languages and pictures are shown to admins and owners.</p>}
    </>
  );
}

function UserStatusText({ user }: { readonly user: Detail }) {
  const { status, statusReason } = user;
  const { word, tone } = statusOf(user);
  return (
    <>
      <Status tone={tone}>{word}</Status>
      <span class="fine block">
        {word === 'Imported' ? 'Has not signed in yet.' : STATUSES[status].meaning}
        {statusReason && (
          <>
            {' '}
            Reason: <span dir="auto">{statusReason}</span>
          </>
        )}
      </span>
    </>
  );
}

function Avatar({ user: { profile, email } }: { readonly user: Detail }) {
  if (profile?.avatarUrl) return <img class="avatar" src={profile.avatarUrl} alt="" width={48} height={48} />;
  const [letter = '?'] = (profile?.fullName ?? email).trim();
  return (
    <span class="avatar" aria-hidden="true">
      {letter.toUpperCase()}
    </span>
  );
}

function languageName(tag: string): string {
  try {
    return languageOf(tag);
  } catch {
    return tag;
  }
}

function regionOf(locale: string | null): string | null {
  try {
    return locale === null ? null : (new Intl.Locale(locale).region ?? null);
  } catch {
    return null;
  }
}
