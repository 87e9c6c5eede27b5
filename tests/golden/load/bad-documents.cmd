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
