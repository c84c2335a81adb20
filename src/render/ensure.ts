/**
 * What a Job does that stands for the operator's calls to RabbitMQ and Keystone, with nothing but Python's own library:
 * Kolla's start script is Python, so every image of Kolla's has it. Each step looks first, so that it may run twice;
 * the first that fails ends the program, and the Job tries again. `src/real/bus.ts` and
 * `src/real/identity` do the same for the operator: test/contract/jobs.real.test.ts lets those find nothing to do.
 */
export const ENSURE = `import base64
import json
import os
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'effects.json')) as file:
    work = json.load(file)
at = work['at']
base = at['url'].rstrip('/')
context = ssl.create_default_context(cadata=at['ca']) if at.get('ca') else None
headers = {'content-type': 'application/json'}


def call(method, url, body=None, fine=()):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:
            text = answer.read()
            return answer.status, answer.headers, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        if error.code in fine:
            return error.code, error.headers, None
        sys.exit('%s %s: status %s: %s' % (method, url, error.code, error.read()[:300].decode(errors='replace')))
    except OSError as error:
        sys.exit('%s %s: %s' % (method, url, error))


def mark(claim):
    return 'openstack-operator:%s:%s' % (claim['owner']['id'], claim['owner']['object'])


def check(what, name, have, claim):
    if have != mark(claim):
        sys.exit('%s %s exists and is not of %s: %s' % (what, name, claim['owner']['object'], have or 'no owner mark'))


class Bus:
    def __init__(self):
        login = '%s:%s' % (at['user'], at['password'])
        headers['authorization'] = 'Basic ' + base64.b64encode(login.encode()).decode()

    def url(self, *words):
        return '/'.join([base, 'api'] + [urllib.parse.quote(word, safe='') for word in words])

    def ensureVhost(self, name, claim):
        status, _, have = call('GET', self.url('vhosts', name), fine=[404])
        if status != 404:
            check('virtual host', name, have.get('description'), claim)
        else:
            call('PUT', self.url('vhosts', name), {'description': mark(claim)})

    def ensureUser(self, user, password, vhost, claim):
        status, _, have = call('GET', self.url('users', user), fine=[404])
        if status != 404:
            tags = have['tags'] if isinstance(have['tags'], list) else have['tags'].split(',')
            check('user', user, ','.join(tags), claim)
        call('PUT', self.url('users', user), {'password': password, 'tags': mark(claim)})
        everything = {'configure': '.*', 'write': '.*', 'read': '.*'}
        call('PUT', self.url('permissions', vhost, user), everything)


class Identity:
    def __init__(self):
        self.v3 = base if base.endswith('/v3') else base + '/v3'
        self.project = None
        token = self.login(at['user'], at['password'], 'default', at['project'])
        if token is None:
            sys.exit('%s: user %s is refused' % (self.v3, at['user']))
        headers['x-auth-token'] = token

    def login(self, user, password, domain, project=None):
        home = {'id': domain}
        who = {'methods': ['password'], 'password': {'user': {'name': user, 'domain': home, 'password': password}}}
        scope = {'project': {'name': project, 'domain': home}} if project else 'unscoped'
        body = {'auth': {'identity': who, 'scope': scope}}
        status, got, answer = call('POST', self.v3 + '/auth/tokens', body, fine=[401])
        if status == 401:
            return None
        if project:
            self.project = answer['token']['project']['id']
        return got['x-subject-token']

    def find(self, collection, **having):
        query = urllib.parse.urlencode(having)
        return call('GET', '%s/%s?%s' % (self.v3, collection, query))[2][collection]

    def make(self, collection, **row):
        one = collection[:-1]
        return call('POST', '%s/%s' % (self.v3, collection), {one: dict(row, **work['mark'])})[2][one]

    def owned(self, claim):
        return {'openstack_operator_owner': mark(claim)}

    def change(self, collection, id, **fields):
        call('PATCH', '%s/%s/%s' % (self.v3, collection, id), {collection[:-1]: fields})

    def ensureProject(self, name):
        have = self.find('projects', name=name, domain_id='default')
        if not have:
            self.make('projects', name=name, domain_id='default')
        elif not have[0]['enabled']:
            self.change('projects', have[0]['id'], enabled=True)

    def ensureRole(self, name):
        have = self.find('roles', name=name)
        return have[0] if have else self.make('roles', name=name)

    def person(self, name, password, domain, claim):
        have = self.find('users', name=name, domain_id=domain)
        if not have:
            row = dict(name=name, password=password, domain_id=domain, enabled=True, **self.owned(claim))
            return self.make('users', **row)['id']
        check('user', name, have[0].get('openstack_operator_owner'), claim)
        id = have[0]['id']
        if not have[0]['enabled']:
            self.change('users', id, enabled=True)
        # Setting a password ends the user's tokens, so it is tried first.
        if self.login(name, password, domain) is None:
            self.change('users', id, password=password)
        return id

    def allow(self, user, on, roles):
        for name in roles:
            role = self.ensureRole(name)['id']
            call('PUT', '%s/%s/users/%s/roles/%s' % (self.v3, on, user, role))

    def ensureUser(self, user, password, project, roles, claim):
        have = self.find('projects', name=project, domain_id='default')
        if not have:
            sys.exit('%s: project %s does not exist yet' % (self.v3, project))
        self.allow(self.person(user, password, 'default', claim), 'projects/' + have[0]['id'], roles)

    def ensureDomain(self, domain, admin, password, claim):
        have = self.find('domains', name=domain)
        if have:
            check('domain', domain, have[0].get('openstack_operator_owner'), claim)
        id = (have[0] if have else self.make('domains', name=domain, enabled=True, **self.owned(claim)))['id']
        self.allow(self.person(admin, password, id, claim), 'domains/' + id, ['admin'])

    def ensureService(self, entry, claim):
        told = {key: entry[key] for key in ('name', 'description') if key in entry}
        found = self.find('services', type=entry['type'])
        mine = [row for row in found if row.get('name') == entry['name']] or found
        if not mine:
            mine = [self.make('services', type=entry['type'], **told, **self.owned(claim))]
        else:
            have = mine[0].get('openstack_operator_owner')
            # Bootstrap writes that of Keystone itself, without a mark.
            if entry['type'] != claim.get('adopt'):
                check('catalog entry', entry['type'], have, claim)
            told = dict(told, **self.owned(claim))
            if any(mine[0].get(key) != value for key, value in told.items()) or not mine[0]['enabled']:
                self.change('services', mine[0]['id'], enabled=True, **told)
        service = mine[0]['id']
        rows = [row for row in self.find('endpoints', service_id=service) if row['region_id'] == at['region']]
        for interface, url in entry['endpoints'].items():
            have = [row for row in rows if row['interface'] == interface]
            if not have:
                region = '%s/regions/%s' % (self.v3, urllib.parse.quote(at['region'], safe=''))
                if call('GET', region, fine=[404])[0] == 404:
                    self.make('regions', id=at['region'])
                where = {'service_id': service, 'region_id': at['region']}
                self.make('endpoints', interface=interface, url=url, **where, **self.owned(claim))
            elif have[0]['url'] != url or not have[0]['enabled'] or have[0].get('openstack_operator_owner') != mark(claim):
                self.change('endpoints', have[0]['id'], url=url, enabled=True, **self.owned(claim))

    def post(self, service, path, body):
        # 409: it is there already.
        url = (service.rstrip('/') + path).replace('%(project_id)s', self.project)
        call('POST', url, body, fine=[409])


port = {'bus': Bus, 'identity': Identity}[work['port']]()
for step in work['steps']:
    getattr(port, step['method'])(*step['args'])
    print(step['method'], step['what'], flush=True)
`;
