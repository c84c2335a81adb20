import { type Conf, conf } from '../../oslo/conf.ts';
import { cleaningScript } from '../chores/housekeeping.ts';
import type { ConfigFile } from '../config/config.ts';
import { busUrl } from '../links/bus.ts';
import { databaseUrl } from '../links/database.ts';
import { databaseSection, logging } from '../links/sections.ts';
import type { BusLink, DatabaseLink } from '../links/types.ts';
import { STATE } from './config.ts';

/** Scripts of nova-manage. They hold no credentials: nova-manage takes URLs from its config where it is given none. */

export const SCRIPTS = '/var/lib/openstack/nova';
const script = (key: string, text: string): ConfigFile => ({ key, path: `${SCRIPTS}/${key}`, text });

export const bash = (key: string, ...args: string[]): readonly string[] => ['bash', `${SCRIPTS}/${key}`, ...args];

/**
 * `--local_cell`: without it the sync of one cell's database goes on to that of cell0. The API's comes first, because
 * the cells' migrations ask it for their mapping.
 */
export const syncScript = (withApi: boolean): ConfigFile =>
  script('db-sync.sh', `set -eu\n${withApi ? 'nova-manage api_db sync\n' : ''}nova-manage db sync --local_cell\n`);

export const SYNC = bash('db-sync.sh');

const CELL0_UUID = '00000000-0000-0000-0000-000000000000';

/** The UUID of the cell named $1: names are not unique to Nova, so a cell is looked for before it is made. */
const FIND = `uuid=$(nova-manage cell_v2 list_cells | awk -F '|' -v name="$1" '
  { gsub(/ /, "", $2); gsub(/ /, "", $3) }
  $2 == name { print $3; exit }')
`;

/** map_cell0 derives a wrong URL and keeps an old one, so update_cell follows. cell0 has no bus of its own. */
const ENSURE = `set -eu
if [ "$1" = cell0 ]; then
  nova-manage cell_v2 map_cell0
  exec nova-manage cell_v2 update_cell --cell_uuid ${CELL0_UUID} --name cell0 --transport-url none:///
fi
${FIND}if [ -n "$uuid" ]; then
  exec nova-manage cell_v2 update_cell --cell_uuid "$uuid" --name "$1"
fi
exec nova-manage cell_v2 create_cell --name "$1" --verbose
`;

const UNLESS_MAPPED = `if [ -z "$uuid" ]; then
  echo "cell $1 is not mapped"
  exit 0
fi
`;

/** The hosts of the cell $uuid. */
const HOSTS = `hosts=$(nova-manage cell_v2 list_hosts --cell_uuid "$uuid" | awk -F '|' 'NR > 3 && NF > 3 { gsub(/ /, "", $4); print $4 }')
`;

/** nova-manage counts servers and does not name them. */
const SERVERS = `import sys
from nova import config, context, objects
config.parse_args(['nova-manage'])
objects.register_all()
found = objects.InstanceMappingList.get_not_deleted_by_cell_and_project(
    context.get_admin_context(), sys.argv[1], None, limit=10)
print(*[one.instance_uuid for one in found])
`;

/** What is in the way of taking the cell out: servers, and hosts that are not pods of ours ($OWN_HOSTS). */
const CHECK = `set -eu
${FIND}${UNLESS_MAPPED}${HOSTS}strange=
for host in $hosts; do
  case " $OWN_HOSTS " in *" $host "*) ;; *) strange="$strange $host" ;; esac
done
if [ -n "$strange" ]; then
  echo "cell $1 still has hosts:$strange"
  exit 2
fi
servers=$(python3 ${SCRIPTS}/servers.py "$uuid")
if [ -n "$servers" ]; then
  echo "cell $1 still has servers: $servers"
  exit 3
fi
`;

/** Exit codes of delete_cell: 2 hosts, 3 servers, 4 rows of deleted servers only. The hosts were pods of ours. */
const DELETE = `set -eu
${FIND}${UNLESS_MAPPED}${HOSTS}for host in $hosts; do
  nova-manage cell_v2 delete_host --cell_uuid "$uuid" --host "$host"
done
code=0
nova-manage cell_v2 delete_cell --cell_uuid "$uuid" || code=$?
if [ "$code" = 4 ]; then
  nova-manage db archive_deleted_rows --until-complete || [ $? = 1 ]
  code=0
  nova-manage cell_v2 delete_cell --cell_uuid "$uuid" || code=$?
fi
case $code in
  0) exit 0 ;;
  2) echo "cell $1 has hosts again" ;;
  3) echo "cell $1 still has servers" ;;
  *) echo "delete_cell ended with $code" ;;
esac
exit "$code"
`;

/** 1 of archive: it found some. 3 of purge: there was nothing. */
export const cleaningCell = cleaningScript('nova', [
  'before=$(date --date "$days days ago" +%Y-%m-%d)',
  'nova-manage db archive_deleted_rows --until-complete --sleep 1 --before "$before" || [ $? = 1 ]',
  'nova-manage db purge --before "$before" || [ $? = 3 ]',
]);

export const manageScripts: readonly ConfigFile[] = [
  script('ensure-cell.sh', ENSURE),
  script('check-cell.sh', CHECK),
  script('servers.py', SERVERS),
  script('delete-cell.sh', DELETE),
  cleaningCell,
];

export const ensureCell = (cell: string): readonly string[] => bash('ensure-cell.sh', cell);
export const checkCell = (cell: string): readonly string[] => bash('check-cell.sh', cell);
export const deleteCell = (cell: string): readonly string[] => bash('delete-cell.sh', cell);

export interface ManageLinks {
  readonly api: DatabaseLink;
  readonly cell: DatabaseLink;
  readonly bus: BusLink;
}

/** The API's database to write the mapping to, and the cell's URLs, which become the mapping. */
export const manageConf = (links: ManageLinks): Conf =>
  conf('nova', logging, {
    DEFAULT: { state_path: STATE, transport_url: busUrl(links.bus) },
    oslo_concurrency: { lock_path: `${STATE}/tmp` },
    api_database: databaseSection(databaseUrl(links.api)),
    database: databaseSection(databaseUrl(links.cell)),
  });
