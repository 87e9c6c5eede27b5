# needs: full
try() { nfsbal load --jobs - <<<"$1" 2>&1; echo "= $?"; }
job='"name": "a", "server": "10.0.0.1", "export": "/v"'
try '{'
try '{"schema": "nfsbal-jobs/2", "jobs": []}'
try '{"schema": "nfsbal-jobs/1", "jobs": []}'
try '{"schema": "nfsbal-jobs/1", "job": []}'
try '{"schema": "nfsbal-jobs/1", "jobs": [{"server": "10.0.0.1"}]}'
try '{"schema": "nfsbal-jobs/1", "jobs": [{"name": "a", "export": "/v", "workload": {"op": "read"}}]}'
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"workload\": {\"op\": \"append\"}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"workload\": {\"op\": \"read\", \"blok\": 1}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"workload\": {\"op\": \"read\", \"block\": 2097152}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"size\": 4096, \"workload\": {\"op\": \"read\"}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"sport\": [70000], \"workload\": {\"op\": \"read\"}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"nconnect\": 0, \"workload\": {\"op\": \"read\"}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"servers\": [\"10.0.0.2\"], \"workload\": {\"op\": \"read\"}}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"seed\": \"x1\", \"jobs\": [{$job, \"workload\": {\"op\": \"read\"}}]}"
two() { try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, $1}, {\"name\": \"b\", \"server\": \"10.0.0.1\", \"export\": \"/v\", $2}]}"; }
two '"workload": {"op": "clone"}' '"target": true, "workload": {"op": "write"}'
two '"to": "c", "workload": {"op": "clone"}' '"target": true, "workload": {"op": "write"}'
two '"to": "b", "workload": {"op": "read"}' '"target": true, "workload": {"op": "write"}'
two '"workload": {"op": "read"}' '"target": true, "workload": {"op": "write"}'
two '"to": "b", "verify": true, "workload": {"op": "clone"}' '"target": true, "workload": {"op": "write"}'
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"machine\": []}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"machine\": [{\"name\": \"idle\"}]}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"machine\": [{\"operations\": 3, \"outstanding\": 0}]}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"machine\": [{\"for\": 1, \"iops\": 3}]}]}"
try "{\"schema\": \"nfsbal-jobs/1\", \"jobs\": [{$job, \"machine\": [{\"for\": 1}], \"workload\": {\"op\": \"read\"}}]}"
