package redis

import "github.com/redis/go-redis/v9"

// A turn has two keys in one slot of a cluster: a hash with its state and a stream with its events. An entry's id is
// "<epoch>-<seq>" of its last event, so Redis itself refuses a zombie's write once the new owner has written. State: epoch (who may write),
// seq and last (the last event), closed, and "e<epoch>" (the number before that epoch's first event).

// separator stands between the events of one entry. JSON text never holds it.
const separator = "\x1e"

// open lets an epoch write. KEYS: state. ARGV: epoch, seconds to live.
var open = redis.NewScript(`
local epoch = redis.call('HGET', KEYS[1], 'epoch')
local last = redis.call('HGET', KEYS[1], 'last') or '0-0'
if epoch and tonumber(ARGV[1]) < tonumber(epoch) then return {'fenced', last} end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return {'ok', last}
`)

// guard refuses who may not write; both writing scripts begin with it.
const guard = `
local state = redis.call('HMGET', KEYS[1], 'epoch', 'seq', 'closed', 'last')
if not state[1] then return {'lost', '0-0'} end
local last = state[4] or '0-0'
local epoch = tonumber(ARGV[1])
if epoch < tonumber(state[1]) then return {'fenced', last} end
if epoch > tonumber(state[1]) then return {'lost', last} end
local seq = tonumber(state[2] or '0')
if seq > 0 and redis.call('EXISTS', KEYS[2]) == 0 then redis.call('DEL', KEYS[1]) return {'lost', '0-0'} end
`

// add appends a batch as one entry, whose id is that of its last event. KEYS: state, events. ARGV: epoch, seconds to live,
// most entries, channel, how many events, the events joined by separator.
var add = redis.NewScript(guard + `
if state[3] then return {'closed', last} end
if ARGV[5] ~= '0' then
  redis.call('HSETNX', KEYS[1], 'e' .. ARGV[1], seq)
  seq = seq + tonumber(ARGV[5])
  last = ARGV[1] .. '-' .. seq
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], last, 'd', ARGV[6])
  redis.call('HSET', KEYS[1], 'seq', seq, 'last', last)
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
  redis.call('PUBLISH', ARGV[4], '1')
end
return {'ok', last}
`)

// end closes a stream. KEYS: state, events. ARGV: epoch, seconds to live, channel.
var end = redis.NewScript(guard + `
redis.call('HSET', KEYS[1], 'closed', '1')
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('PUBLISH', ARGV[3], '1')
return {'ok', last}
`)
