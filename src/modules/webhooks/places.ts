/**
 * How the places for deliveries are shared: among workspaces first, then among the endpoints of each, so that an endpoint
 * that hangs delays none of another workspace, and hundreds of them few of their own.
 */
import { freePlaces, quarterOf } from '../../outbound/shares.ts';

const PER_ENDPOINT = 10;
const IN_ALL = 100;

/** An endpoint, and the workspace whose places it uses. */
export interface Place {
  readonly webhookId: string;
  /** Null is the console's own. */
  readonly workspaceId: string | null;
}

interface Use {
  places: number;
  endpoints: number;
}

/** The free places, given what is under way. */
export interface DeliveryPlaces {
  /** How many more the endpoint may take. */
  of(place: Place): number;
  /** How many of the workspace's endpoints may use beyond their first. */
  furtherOf(workspaceId: string | null): number;
  take(place: Place, count: number): void;
  /** Whether nobody may take any. */
  readonly areTaken: boolean;
}

/**
 * @param underWay the place of each delivery that is under way.
 * @param isShared a workspace that is alone on the server has all places.
 */
export function deliveryPlaces(underWay: Iterable<readonly [Place, count: number]>, isShared: boolean): DeliveryPlaces {
  const byEndpoint = new Map<string, number>();
  const byWorkspace = new Map<string | null, Use>();
  let all = 0;

  const useOf = (workspaceId: string | null): Use => byWorkspace.get(workspaceId) ?? { places: 0, endpoints: 0 };

  /** Every endpoint can have a first place; further ones come out of half of the workspace's. */
  function furtherOf(workspaceId: string | null): number {
    const { places, endpoints } = useOf(workspaceId);
    const most = isShared ? quarterOf(IN_ALL) : IN_ALL;
    return Math.max(0, Math.floor(most / 2) - (places - endpoints));
  }

  const free: DeliveryPlaces = {
    furtherOf,
    of({ webhookId, workspaceId }) {
      const own = byEndpoint.get(webhookId) ?? 0;
      const inUse = { all, workspaces: byWorkspace.size, own: useOf(workspaceId).places };
      const ofWorkspace = isShared ? freePlaces(IN_ALL, inUse) : IN_ALL - all;
      const first = own === 0 ? 1 : 0;
      return Math.max(0, Math.min(PER_ENDPOINT - own, ofWorkspace, first + furtherOf(workspaceId)));
    },
    take({ webhookId, workspaceId }, count) {
      if (count === 0) return;
      const { places, endpoints } = useOf(workspaceId);
      const isFirst = !byEndpoint.has(webhookId);
      byWorkspace.set(workspaceId, { places: places + count, endpoints: endpoints + (isFirst ? 1 : 0) });
      byEndpoint.set(webhookId, (byEndpoint.get(webhookId) ?? 0) + count);
      all += count;
    },
    get areTaken() {
      return all >= IN_ALL;
    },
  };
  for (const [place, count] of underWay) free.take(place, count);
  return free;
}
