/** The parts of a person's own profile, put together. Each keeps the rules of its part. */
import { addressService } from './addresses.ts';
import { entityService } from './entities.ts';
import { identityService } from './identity.ts';
import { languageService } from './languages.ts';
import type { ProfileDependencies } from './place.ts';
import { regionService } from './region.ts';
import { usernameService } from './username.ts';

export type Profiles = ReturnType<typeof profileService>;

/** All act for the person of the session, and for nobody else. */
export function profileService(dependencies: ProfileDependencies) {
  const { db } = dependencies;
  return {
    identities: identityService(db),
    usernames: usernameService(db),
    regions: regionService(db),
    addresses: addressService(dependencies),
    entities: entityService(dependencies),
    languages: languageService(db),
  };
}
