curl -s http://localhost:5800/api/v1/seats
curl -s -X POST http://localhost:5800/fcfs/join \
  -H 'X-User-Id: user-123' \
  -H 'Content-Type: application/json' \
  -d '{"userName":"Alice","phone":"010-1234-5678"}'
